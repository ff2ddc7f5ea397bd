/* What programs of C do by libsecret. Each part is a run of its own:

       libsecret passwords | service | collections | types | many | locked | open
       libsecret watch-lock | watch-collections         says "ready", then what it sees
       libsecret signals COLLECTION
       libsecret other VERB NAME TEXT         what another program does meanwhile

   A line for each claim: "ok" or "FAIL", a tab, the claim, a tab, what was there instead. */

#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEBIBYTE (1024 * 1024)
/* Beyond this a signal is not coming. */
#define PATIENCE_SECONDS 5

static const SecretSchema account = {
    "org.example.latchkey.Account", SECRET_SCHEMA_NONE,
    {{"name", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"number", SECRET_SCHEMA_ATTRIBUTE_INTEGER},
     {"even", SECRET_SCHEMA_ATTRIBUTE_BOOLEAN},
     {NULL, 0}}};

/* Of another name, with the same attributes. */
static const SecretSchema stranger = {
    "org.example.latchkey.Stranger", SECRET_SCHEMA_NONE,
    {{"name", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"number", SECRET_SCHEMA_ATTRIBUTE_INTEGER}, {NULL, 0}}};

/* Of another name, that looks for what any schema stored. */
static const SecretSchema anyone = {
    "org.example.latchkey.Anyone", SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"name", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"number", SECRET_SCHEMA_ATTRIBUTE_INTEGER}, {NULL, 0}}};

static void claim_because(gboolean holds, const char *what, const char *instead)
{
    printf("%s\t%s\t%s\n", holds ? "ok" : "FAIL", what, holds || !instead ? "" : instead);
    fflush(stdout);
}

static void claim(gboolean holds, const char *what)
{
    claim_because(holds, what, NULL);
}

static void claim_text(const char *got, const char *wanted, const char *what)
{
    claim_because(g_strcmp0(got, wanted) == 0, what, got ? got : "nothing");
}

static void claim_number(gint64 got, gint64 wanted, const char *what)
{
    char *text = g_strdup_printf("%" G_GINT64_FORMAT " in place of %" G_GINT64_FORMAT, got, wanted);
    claim_because(got == wanted, what, text);
    g_free(text);
}

/* Ends the run: what comes behind it would claim nothing. */
static void need(GError *error, const char *what)
{
    if (!error) return;
    claim_because(FALSE, what, error->message);
    exit(1);
}

#define NEEDED(call, what) ({ GError *error = NULL; __auto_type got = (call); need(error, what); got; })

static void claim_password(char *got, const char *wanted, const char *what)
{
    claim_text(got, wanted, what);
    secret_password_free(got);
}

static int length_and_free(GList *list)
{
    int length = g_list_length(list);
    g_list_free_full(list, g_object_unref);
    return length;
}

static SecretValue *value_of(gsize length)
{
    char *bytes = g_malloc(length + 1);
    for (gsize index = 0; index < length; index++) bytes[index] = (char)(index * 7 + index / 256);
    SecretValue *value = secret_value_new(bytes, length, "application/octet-stream");
    g_free(bytes);
    return value;
}

static gboolean same(SecretValue *one, SecretValue *other)
{
    gsize length, others;
    if (!one || !other) return FALSE;
    const char *bytes = secret_value_get(one, &length);
    const char *more = secret_value_get(other, &others);
    return length == others && memcmp(bytes, more, length) == 0;
}

static gboolean store(const char *label, const char *secret, const char *name, int number, gboolean even)
{
    return NEEDED(
        secret_password_store_sync(&account, SECRET_COLLECTION_DEFAULT, label, secret, NULL, &error,
            "name", name, "number", number, "even", even, NULL),
        "a password is stored");
}

#define LOOKUP(schema, ...) NEEDED(secret_password_lookup_sync(schema, NULL, &error, __VA_ARGS__, NULL), "lookup")

/* passwords */

static void attributes_of_each_kind(void)
{
    store("First", "one", "alice", -7, FALSE);
    store("Second", "two", "alice", 42, TRUE);
    claim_password(LOOKUP(&account, "name", "alice", "number", -7, "even", FALSE), "one", "all attributes find it");
    claim_password(LOOKUP(&account, "number", 42), "two", "an integer finds it");
    claim_password(LOOKUP(&account, "even", FALSE), "one", "a boolean finds it");
    claim_password(LOOKUP(&account, "number", 43), NULL, "another integer does not");
    claim_password(LOOKUP(&account, "name", "alice", "number", -7, "even", TRUE), NULL, "nor what is right but for one");
    claim_password(LOOKUP(&stranger, "number", 42), NULL, "nor a schema of another name");
    claim_password(LOOKUP(&anyone, "number", 42), "two", "a schema that does not say its name does");
    store("Third", "three", "alice", 42, TRUE);
    claim_password(LOOKUP(&account, "number", 42), "three", "the same attributes replace");
    GList *found = NEEDED(
        secret_password_search_sync(&account, SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS | SECRET_SEARCH_UNLOCK,
            NULL, &error, "name", "alice", NULL), "search");
    claim_number(g_list_length(found), 2, "a search finds both");
    for (GList *each = found; each; each = each->next) {
        char *label = secret_retrievable_get_label(each->data);
        GHashTable *held = secret_retrievable_get_attributes(each->data);
        SecretValue *value = NEEDED(secret_retrievable_retrieve_secret_sync(each->data, NULL, &error), "retrieve");
        gboolean third = g_str_equal(label, "Third");
        claim_text(g_hash_table_lookup(held, "number"), third ? "42" : "-7", "with its number");
        claim_text(g_hash_table_lookup(held, "even"), third ? "true" : "false", "with its boolean");
        claim_text(g_hash_table_lookup(held, "xdg:schema"), account.name, "with its schema");
        claim_text(secret_value_get_text(value), third ? "three" : "one", "with its secret");
        claim(secret_retrievable_get_created(each->data) > 1600000000, "with its date");
        secret_value_unref(value);
        g_hash_table_unref(held);
        g_free(label);
    }
    length_and_free(found);
    found = NEEDED(secret_password_search_sync(&account, SECRET_SEARCH_NONE, NULL, &error, "name", "alice", NULL), "search");
    claim_number(length_and_free(found), 1, "one where not all are asked for");
    claim(NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", "alice", NULL), "clear"), "clear takes both");
    claim(!NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", "alice", NULL), "clear"), "and says so once");
    claim_password(LOOKUP(&account, "name", "alice"), NULL, "neither is found");
}

static void keep(const char *text, const char *what)
{
    store(text, text, text, 1, TRUE);
    claim_password(LOOKUP(&account, "name", text), text, what);
    GList *found = NEEDED(secret_password_search_sync(&account, SECRET_SEARCH_ALL, NULL, &error, "name", text, NULL), what);
    claim_number(g_list_length(found), 1, what);
    if (found) {
        char *label = secret_retrievable_get_label(found->data);
        claim_text(label, text, what);
        g_free(label);
    }
    length_and_free(found);
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", text, NULL), what);
}

static void texts_of_all_kinds(void)
{
    keep("Grüße an 密碼 \xf0\x9f\x94\x91 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", "Unicode stays as it is");
    /* The same to the eye, not to a comparison of bytes. */
    store("composed", "composed", "\xc3\xa9", 1, TRUE);
    store("decomposed", "decomposed", "e\xcc\x81", 1, TRUE);
    claim_password(LOOKUP(&account, "name", "\xc3\xa9"), "composed", "attributes are compared by their bytes");
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "number", 1, NULL), "clear");
    keep("two\nlines\tand \"quotes\" \\ %s %n $(x)", "signs that mean something elsewhere mean nothing");
    char *spaces = g_strdup("  around  ");
    keep(spaces, "spaces stay");
    g_free(spaces);
    char *longest = g_strnfill(4000, 'x');
    keep(longest, "4000 characters stay");
    g_free(longest);
    store("Empty", "", "empty", 1, TRUE);
    claim_password(LOOKUP(&account, "name", "empty"), "", "an empty password is one");
    store("", "no label", "empty label", 1, TRUE);
    claim_password(LOOKUP(&account, "name", "empty label"), "no label", "a label may be empty");
    store("No name", "no name", "", 1, TRUE);
    claim_password(LOOKUP(&account, "name", ""), "no name", "an attribute may be empty");
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "number", 1, NULL), "clear");
}

static void binary_of(gsize length, const char *what)
{
    SecretValue *value = value_of(length);
    NEEDED(secret_password_store_binary_sync(&account, SECRET_COLLECTION_DEFAULT, "Binary", value, NULL, &error,
               "name", "binary", NULL), what);
    SecretValue *got = NEEDED(secret_password_lookup_binary_sync(&account, NULL, &error, "name", "binary", NULL), what);
    claim(same(value, got), what);
    secret_value_unref(value);
    if (got) secret_value_unref(got);
}

static void binary(void)
{
    binary_of(1, "one byte, which is 0, stays");
    binary_of(16, "a whole block of the session's cipher stays");
    binary_of(257, "every byte stays");
    binary_of(MEBIBYTE, "a mebibyte stays");
    binary_of(0, "no bytes are a value");
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", "binary", NULL), "clear");
}

/* gnome-keyring says text/plain of everything. */
static void types(void)
{
    SecretValue *value = value_of(257);
    NEEDED(secret_password_store_binary_sync(&account, SECRET_COLLECTION_DEFAULT, "Typed", value, NULL, &error,
               "name", "typed", NULL), "store");
    SecretValue *got = NEEDED(secret_password_lookup_binary_sync(&account, NULL, &error, "name", "typed", NULL), "lookup");
    claim_text(got ? secret_value_get_content_type(got) : NULL, "application/octet-stream", "a value keeps its type");
    secret_value_unref(value);
    if (got) secret_value_unref(got);
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", "typed", NULL), "clear");
}

static void collections_of_passwords(void)
{
    NEEDED(secret_password_store_sync(&account, SECRET_COLLECTION_SESSION, "S", "short", NULL, &error,
               "name", "session", NULL), "the session's collection takes it");
    claim_password(LOOKUP(&account, "name", "session"), "short", "what the session keeps is found");
    char *hidden = NEEDED(
        secret_password_lookup_nonpageable_sync(&account, NULL, &error, "name", "session", NULL), "nonpageable");
    claim_password(hidden, "short", "also into memory that is locked");
    NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", "session", NULL), "clear");
    GError *error = NULL;
    gboolean stored = secret_password_store_sync(&account, "/org/freedesktop/secrets/collection/nowhere", "N", "n", NULL,
        &error, "name", "nowhere", NULL);
    claim(!stored && error, "a collection that is not there takes nothing");
    g_clear_error(&error);
    GCancellable *gone = g_cancellable_new();
    g_cancellable_cancel(gone);
    claim(!secret_password_lookup_sync(&account, gone, &error, "name", "x", NULL), "a call that was given up has no answer");
    claim(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED), "and says so");
    g_clear_error(&error);
    g_object_unref(gone);
}

static void passwords(void)
{
    attributes_of_each_kind();
    texts_of_all_kinds();
    binary();
    collections_of_passwords();
}

/* service */

static gboolean too_late(gpointer late)
{
    *(gboolean *)late = TRUE;
    return G_SOURCE_CONTINUE;
}

/* Runs the loop until it is so. */
static gboolean becomes(gboolean (*so)(gpointer), gpointer what)
{
    gboolean late = FALSE;
    guint timer = g_timeout_add_seconds(PATIENCE_SECONDS, too_late, &late);
    while (!so(what) && !late) g_main_context_iteration(NULL, TRUE);
    g_source_remove(timer);
    return so(what);
}

static SecretService *whole_service(void)
{
    return NEEDED(
        secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION | SECRET_SERVICE_LOAD_COLLECTIONS, NULL, &error), "service");
}

static SecretCollection *labelled(SecretService *service, const char *label)
{
    SecretCollection *found = NULL;
    GList *all = secret_service_get_collections(service);
    for (GList *each = all; each; each = each->next) {
        char *its = secret_collection_get_label(each->data);
        if (g_str_equal(its, label)) g_set_object(&found, each->data);
        g_free(its);
    }
    g_list_free_full(all, g_object_unref);
    return found;
}

static GHashTable *pairs(const char *name, const char *value)
{
    GHashTable *made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_insert(made, g_strdup(name), g_strdup(value));
    return made;
}

static SecretItem *created(
    SecretCollection *collection, const SecretSchema *schema, const char *label, const char *name, const char *secret,
    SecretItemCreateFlags flags)
{
    GHashTable *attributes = pairs("name", name);
    SecretValue *value = secret_value_new(secret, -1, "text/plain");
    SecretItem *item = NEEDED(
        secret_item_create_sync(collection, schema, attributes, label, value, flags, NULL, &error), "an item is created");
    secret_value_unref(value);
    g_hash_table_unref(attributes);
    return item;
}

static const char *path(gpointer proxy) { return g_dbus_proxy_get_object_path(G_DBUS_PROXY(proxy)); }

/* As the service says it now, whatever is kept here of it. */
static int count_on_bus(gpointer proxy, const char *interface, const char *property)
{
    GVariant *answer = NEEDED(
        g_dbus_connection_call_sync(g_dbus_proxy_get_connection(proxy), g_dbus_proxy_get_name(proxy), path(proxy),
            "org.freedesktop.DBus.Properties", "Get", g_variant_new("(ss)", interface, property), G_VARIANT_TYPE("(v)"),
            G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error), property);
    GVariant *value;
    g_variant_get(answer, "(v)", &value);
    int count = g_variant_n_children(value);
    g_variant_unref(value);
    g_variant_unref(answer);
    return count;
}

static int items_in(SecretCollection *collection)
{
    return count_on_bus(collection, "org.freedesktop.Secret.Collection", "Items");
}

static void known_collections(SecretService *service)
{
    claim_text(secret_service_get_session_algorithms(service), "dh-ietf1024-sha256-aes128-cbc-pkcs7",
        "secrets go encrypted over the bus");
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_LOAD_ITEMS, NULL, &error),
        "alias");
    claim(login && !secret_collection_get_locked(login), "the default collection is there and open");
    if (login) claim_text(path(login), "/org/freedesktop/secrets/collection/login", "it is the login collection");
    g_clear_object(&login);
    login = NEEDED(secret_collection_for_alias_sync(service, "nothing", SECRET_COLLECTION_NONE, NULL, &error), "alias");
    claim(!login, "an alias of nothing leads nowhere, without an error");
    login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_SESSION, SECRET_COLLECTION_NONE, NULL, &error), "alias");
    claim(login != NULL, "the session's collection is there");
    g_clear_object(&login);
}

static gboolean has_label(gpointer collection, const char *label)
{
    char *its = secret_collection_get_label(collection);
    gboolean has = g_str_equal(its, label);
    g_free(its);
    return has;
}

static gboolean is_played(gpointer collection) { return has_label(collection, "Play"); }

static gboolean is_listed(gpointer collection)
{
    SecretService *service = secret_collection_get_service(collection);
    SecretCollection *listed = labelled(service, "Play");
    gboolean is = listed && g_str_equal(path(listed), path(collection));
    g_clear_object(&listed);
    return is;
}

static void own_collection(SecretService *service)
{
    SecretCollection *work = NEEDED(
        secret_collection_create_sync(service, "W\xc3\xb6rk & play", NULL, 0, NULL, &error), "a collection is created");
    char *label = secret_collection_get_label(work);
    claim_text(label, "W\xc3\xb6rk & play", "a collection has the label that it was given");
    g_free(label);
    claim(!secret_collection_get_locked(work), "it is open");
    claim(secret_collection_get_created(work) > 1600000000, "it has a date");
    claim_number(length_and_free(secret_collection_get_items(work)), 0, "it is empty");
    NEEDED(secret_collection_set_label_sync(work, "Play", NULL, &error), "a label is set");
    claim(becomes(is_played, work), "it says its new label");
    claim(becomes(is_listed, work), "it is listed");
    g_object_unref(created(work, &account, "Inside", "inside", "within", SECRET_ITEM_CREATE_NONE));
    claim_password(LOOKUP(&account, "name", "inside"), "within", "what it holds is found");
    NEEDED(secret_password_store_sync(&account, path(work), "By path", "by path", NULL, &error, "name", "by path", NULL),
        "a password is stored by a collection's path");
    claim_number(items_in(work), 2, "both items are its");
    GHashTable *wanted = pairs("name", "inside");
    GList *found = NEEDED(secret_collection_search_sync(
        work, &account, wanted, SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS, NULL, &error), "search");
    claim_number(length_and_free(found), 1, "a search of it alone finds it");
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, NULL, &error), "alias");
    found = NEEDED(secret_collection_search_sync(login, &account, wanted, SECRET_SEARCH_ALL, NULL, &error), "search");
    claim_number(length_and_free(found), 0, "a search of another does not");
    g_object_unref(login);
    g_hash_table_unref(wanted);
    NEEDED(secret_collection_delete_sync(work, NULL, &error), "delete");
    claim_password(LOOKUP(&account, "name", "inside"), NULL, "it takes what it held along");
    g_object_unref(work);
}

static void aliases(SecretService *service)
{
    SecretCollection *one = NEEDED(
        secret_collection_create_sync(service, "Aliased", "testing", 0, NULL, &error), "a collection is created");
    SecretCollection *two = NEEDED(
        secret_collection_create_sync(service, "Again", "testing", 0, NULL, &error), "a collection is created");
    claim_text(path(two), path(one), "an alias that is taken gives its collection");
    NEEDED(secret_password_store_sync(&account, "testing", "A", "aliased", NULL, &error, "name", "aliased", NULL),
        "a password is stored by an alias");
    claim_number(items_in(one), 1, "it is in the alias's collection");
    NEEDED(secret_service_set_alias_sync(service, "testing", NULL, NULL, &error), "set alias");
    SecretCollection *gone = NEEDED(
        secret_collection_for_alias_sync(service, "testing", SECRET_COLLECTION_NONE, NULL, &error), "alias");
    claim(!gone, "an alias is taken away");
    NEEDED(secret_service_set_alias_sync(service, "elsewhere", one, NULL, &error), "set alias");
    gone = NEEDED(secret_collection_for_alias_sync(service, "elsewhere", SECRET_COLLECTION_NONE, NULL, &error), "alias");
    claim_text(gone ? path(gone) : NULL, path(one), "and another given");
    g_clear_object(&gone);
    NEEDED(secret_collection_delete_sync(one, NULL, &error), "delete");
    g_object_unref(two);
    g_object_unref(one);
}

static void change(SecretItem *item)
{
    NEEDED(secret_item_set_label_sync(item, "Changed", NULL, &error), "a label is set");
    GHashTable *attributes = pairs("name", "changed");
    NEEDED(secret_item_set_attributes_sync(item, &account, attributes, NULL, &error), "attributes are set");
    g_hash_table_unref(attributes);
    SecretValue *value = value_of(MEBIBYTE);
    NEEDED(secret_item_set_secret_sync(item, value, NULL, &error), "a secret is set");
    char *label = secret_item_get_label(item);
    claim_text(label, "Changed", "an item says its new label");
    g_free(label);
    attributes = secret_item_get_attributes(item);
    claim_text(g_hash_table_lookup(attributes, "name"), "changed", "and its new attributes");
    g_hash_table_unref(attributes);
    NEEDED(secret_item_load_secret_sync(item, NULL, &error), "a secret is loaded");
    SecretValue *got = secret_item_get_secret(item);
    claim(same(value, got), "and its new secret");
    if (got) secret_value_unref(got);
    secret_value_unref(value);
    claim_password(LOOKUP(&account, "name", "before"), NULL, "what it had is not found any more");
}

static void items(SecretService *service)
{
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, NULL, &error), "alias");
    int before = items_in(login);
    SecretItem *item = created(login, &account, "Item", "before", "secret", SECRET_ITEM_CREATE_NONE);
    SecretItem *twin = created(login, &account, "Twin", "before", "other", SECRET_ITEM_CREATE_NONE);
    claim(!g_str_equal(path(item), path(twin)), "the same attributes twice are two items");
    char *schema = secret_item_get_schema_name(item);
    claim_text(schema, account.name, "an item says its schema");
    g_free(schema);
    claim(!secret_item_get_locked(item), "it is open");
    claim(secret_item_get_created(item) <= secret_item_get_modified(item), "it has its dates");
    NEEDED(secret_item_delete_sync(twin, NULL, &error), "delete");
    GError *error = NULL;
    claim(!secret_item_load_secret_sync(twin, NULL, &error) && error, "what was deleted has no secret");
    g_clear_error(&error);
    g_object_unref(twin);
    change(item);
    SecretItem *same_place = created(login, &account, "Replaced", "changed", "text", SECRET_ITEM_CREATE_REPLACE);
    claim_text(path(same_place), path(item), "what is replaced keeps its path");
    g_object_unref(same_place);
    NEEDED(secret_item_delete_sync(item, NULL, &error), "delete");
    g_object_unref(item);
    claim_number(items_in(login), before, "nothing is left over");
    g_object_unref(login);
}

static void locks(SecretService *service)
{
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, NULL, &error), "alias");
    SecretItem *item = created(login, &account, "L", "lock", "secret", SECRET_ITEM_CREATE_NONE);
    GList *both = g_list_append(g_list_append(NULL, login), item);
    GList *opened = NULL;
    claim_number(NEEDED(secret_service_unlock_sync(service, both, NULL, &opened, &error), "unlock"), 2,
        "what is open is opened");
    claim_number(length_and_free(opened), 2, "and both are named");
    claim_number(NEEDED(secret_service_unlock_sync(service, NULL, NULL, NULL, &error), "unlock"), 0,
        "nothing may be opened too");
    g_list_free(both);
    NEEDED(secret_item_delete_sync(item, NULL, &error), "delete");
    g_object_unref(item);
    g_object_unref(login);
}

static void many_attributes(SecretService *service)
{
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, NULL, &error), "alias");
    GHashTable *attributes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (int number = 0; number < 60; number++)
        g_hash_table_insert(attributes, g_strdup_printf("name-%d", number), g_strdup_printf("value %d", number));
    SecretValue *value = secret_value_new("many", -1, "text/plain");
    SecretItem *item = NEEDED(
        secret_item_create_sync(login, NULL, attributes, "Many", value, SECRET_ITEM_CREATE_NONE, NULL, &error),
        "60 attributes are stored");
    GHashTable *held = secret_item_get_attributes(item);
    int missing = 0;
    GHashTableIter each;
    gpointer name, wanted;
    g_hash_table_iter_init(&each, attributes);
    while (g_hash_table_iter_next(&each, &name, &wanted))
        missing += g_strcmp0(g_hash_table_lookup(held, name), wanted) != 0;
    claim_number(missing, 0, "60 attributes stay");
    g_hash_table_unref(held);
    GList *found = NEEDED(
        secret_service_search_sync(service, NULL, attributes, SECRET_SEARCH_ALL, NULL, &error), "search");
    claim_number(length_and_free(found), 1, "all 60 find it");
    GHashTable *one = pairs("name-59", "value 59");
    found = NEEDED(secret_service_search_sync(service, NULL, one, SECRET_SEARCH_ALL, NULL, &error), "search");
    claim_number(length_and_free(found), 1, "one of the 60 finds it");
    g_hash_table_unref(one);
    NEEDED(secret_item_delete_sync(item, NULL, &error), "delete");
    secret_value_unref(value);
    g_hash_table_unref(attributes);
    g_object_unref(item);
    g_object_unref(login);
}

static void many_items(SecretService *service)
{
    for (int number = 0; number < 50; number++) {
        char *secret = g_strdup_printf("secret %d", number);
        NEEDED(secret_password_store_sync(&stranger, SECRET_COLLECTION_DEFAULT, "M", secret, NULL, &error,
                   "name", "many", "number", number, NULL), "store");
        g_free(secret);
    }
    GHashTable *wanted = pairs("name", "many");
    GList *found = NEEDED(secret_service_search_sync(service, &stranger, wanted,
        SECRET_SEARCH_ALL | SECRET_SEARCH_UNLOCK | SECRET_SEARCH_LOAD_SECRETS, NULL, &error), "search");
    claim_number(g_list_length(found), 50, "50 items are found");
    int right = 0;
    for (GList *each = found; each; each = each->next) {
        GHashTable *attributes = secret_item_get_attributes(each->data);
        SecretValue *value = secret_item_get_secret(each->data);
        char *secret = g_strdup_printf("secret %s", (char *)g_hash_table_lookup(attributes, "number"));
        right += value && g_strcmp0(secret_value_get_text(value), secret) == 0;
        g_free(secret);
        if (value) secret_value_unref(value);
        g_hash_table_unref(attributes);
    }
    claim_number(right, 50, "each with its own secret");
    length_and_free(found);
    g_hash_table_unref(wanted);
    NEEDED(secret_password_clear_sync(&stranger, NULL, &error, "name", "many", NULL), "clear");
}

static void service(void)
{
    SecretService *whole = whole_service();
    known_collections(whole);
    items(whole);
    locks(whole);
    many_attributes(whole);
    many_items(whole);
    g_object_unref(whole);
}

/* Where gnome-keyring asks for a password of each. */
static void collections(void)
{
    SecretService *whole = whole_service();
    own_collection(whole);
    aliases(whole);
    g_object_unref(whole);
}

/* signals: what is kept here while another program changes it */

static const char *program;

static void other(const char *verb, const char *name, const char *text)
{
    GError *error = NULL;
    GSubprocess *child = g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, &error, program, "other", verb, name, text, NULL);
    need(error, verb);
    g_subprocess_wait_check(child, NULL, &error);
    need(error, verb);
    g_object_unref(child);
}

static gboolean holds_one(gpointer collection) { return length_and_free(secret_collection_get_items(collection)) == 1; }
static gboolean holds_none(gpointer collection) { return length_and_free(secret_collection_get_items(collection)) == 0; }

static gboolean is_relabelled(gpointer item)
{
    char *label = secret_item_get_label(item);
    gboolean is = g_str_equal(label, "by another");
    g_free(label);
    return is;
}

static gboolean has_other_attributes(gpointer item)
{
    GHashTable *attributes = secret_item_get_attributes(item);
    gboolean has = g_strcmp0(g_hash_table_lookup(attributes, "name"), "another") == 0;
    g_hash_table_unref(attributes);
    return has;
}

static gboolean is_named_anew(gpointer collection) { return has_label(collection, "named by another"); }

static gboolean lists(gpointer service, const char *label)
{
    SecretCollection *found = labelled(service, label);
    gboolean lists = found != NULL;
    g_clear_object(&found);
    return lists;
}

static gboolean lists_others(gpointer service) { return lists(service, "of another"); }
static gboolean lists_none(gpointer service) { return !lists(service, "named by another"); }

static SecretItem *item_named(SecretService *service, const char *name)
{
    GHashTable *wanted = pairs("name", name);
    GList *found = NEEDED(secret_service_search_sync(service, &account, wanted, SECRET_SEARCH_NONE, NULL, &error), name);
    g_hash_table_unref(wanted);
    if (!found) exit(1);
    return found->data;
}

static void items_of_another(SecretService *service, SecretCollection *mine)
{
    other("store", path(mine), "signalled");
    claim(becomes(holds_one, mine), "an item that another program stores shows");
    SecretItem *item = item_named(service, "signalled");
    other("label", "signalled", "by another");
    claim(becomes(is_relabelled, item), "the label that another program gives it shows");
    other("attributes", "signalled", "another");
    claim(becomes(has_other_attributes, item), "the attributes that another program gives it show");
    other("clear", "another", "");
    claim(becomes(holds_none, mine), "that another program deletes an item shows");
    g_object_unref(item);
}

static SecretCollection *at_path(SecretService *service, const char *wanted)
{
    GList *all = secret_service_get_collections(service);
    for (GList *each = all; each; each = each->next)
        if (g_str_equal(path(each->data), wanted)) return each->data;
    fprintf(stderr, "libsecret: there is no collection %s\n", wanted);
    exit(1);
}

static void signals(const char *collection)
{
    SecretService *whole = whole_service();
    SecretCollection *mine = at_path(whole, collection);
    NEEDED(secret_collection_load_items_sync(mine, NULL, &error), "items");
    items_of_another(whole, mine);
    other("name", path(mine), "named by another");
    claim(becomes(is_named_anew, mine), "the label that another program gives a collection shows");
    other("remove", path(mine), "");
    claim(becomes(lists_none, whole), "that another program deletes a collection shows");
    g_object_unref(whole);
}

/* What makes one is ready; it is made once that is said. */
static void watch_collections(void)
{
    SecretService *whole = whole_service();
    printf("ready\n");
    fflush(stdout);
    claim(becomes(lists_others, whole), "a collection that another program makes shows");
}

static void be_other(const char *verb, const char *name, const char *text)
{
    SecretService *whole = whole_service();
    if (g_str_equal(verb, "store"))
        NEEDED(secret_password_store_sync(&account, name, text, "s", NULL, &error, "name", text, NULL), verb);
    else if (g_str_equal(verb, "label"))
        NEEDED(secret_item_set_label_sync(item_named(whole, name), text, NULL, &error), verb);
    else if (g_str_equal(verb, "attributes"))
        NEEDED(secret_item_set_attributes_sync(item_named(whole, name), &account, pairs("name", text), NULL, &error), verb);
    else if (g_str_equal(verb, "clear"))
        NEEDED(secret_password_clear_sync(&account, NULL, &error, "name", name, NULL), verb);
    else {
        SecretCollection *collection = at_path(whole, name);
        if (g_str_equal(verb, "name")) NEEDED(secret_collection_set_label_sync(collection, text, NULL, &error), verb);
        else NEEDED(secret_collection_delete_sync(collection, NULL, &error), verb);
    }
}

static gboolean is_locked(gpointer collection) { return secret_collection_get_locked(collection); }

static void watch_lock(void)
{
    SecretService *whole = whole_service();
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(whole, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_LOAD_ITEMS, NULL, &error),
        "alias");
    claim(!secret_collection_get_locked(login), "a collection is open");
    printf("ready\n");
    fflush(stdout);
    claim(becomes(is_locked, login), "that a person locks the keychain shows");
}

/* many: calls that wait for each other's answers in one loop */

#define CALLS 100
static int answered, right_answers;

static gboolean all_answered(gpointer nothing)
{
    (void)nothing;
    return answered == CALLS;
}

static void is_stored(GObject *source, GAsyncResult *result, gpointer number)
{
    (void)source, (void)number;
    answered++;
    right_answers += secret_password_store_finish(result, NULL);
}

static void is_found(GObject *source, GAsyncResult *result, gpointer number)
{
    (void)source;
    char *wanted = g_strdup_printf("secret %d", GPOINTER_TO_INT(number));
    char *got = secret_password_lookup_finish(result, NULL);
    answered++;
    right_answers += g_strcmp0(got, wanted) == 0;
    secret_password_free(got);
    g_free(wanted);
}

static void is_cleared(GObject *source, GAsyncResult *result, gpointer number)
{
    (void)source, (void)number;
    answered++;
    right_answers += secret_password_clear_finish(result, NULL);
}

static void claim_answers(const char *what)
{
    becomes(all_answered, NULL);
    claim_number(right_answers, CALLS, what);
    answered = right_answers = 0;
}

static void many(void)
{
    for (int number = 0; number < CALLS; number++) {
        char *secret = g_strdup_printf("secret %d", number);
        secret_password_store(&stranger, SECRET_COLLECTION_DEFAULT, "Async", secret, NULL, is_stored,
            GINT_TO_POINTER(number), "name", "async", "number", number, NULL);
        g_free(secret);
    }
    claim_answers("100 passwords are stored at once");
    for (int number = 0; number < CALLS; number++)
        secret_password_lookup(&stranger, NULL, is_found, GINT_TO_POINTER(number), "number", number, NULL);
    claim_answers("and found at once, each its own");
    for (int number = 0; number < CALLS; number++)
        secret_password_clear(&stranger, NULL, is_cleared, GINT_TO_POINTER(number), "number", number, NULL);
    claim_answers("and cleared at once");
}

/* locked, with nobody to ask; what is there has the name "kept" */

static void locked(void)
{
    GError *error = NULL;
    char *got = secret_password_lookup_sync(&account, NULL, &error, "name", "kept", NULL);
    claim(!got, "a locked keychain tells no password");
    g_clear_error(&error);
    gboolean stored = secret_password_store_sync(
        &account, SECRET_COLLECTION_DEFAULT, "New", "new", NULL, &error, "name", "new", NULL);
    claim(!stored && error && error->message[0], "and takes none, with an error that says something");
    g_clear_error(&error);
    GList *found = NEEDED(
        secret_password_search_sync(&account, SECRET_SEARCH_ALL, NULL, &error, "name", "kept", NULL), "search");
    claim_number(g_list_length(found), 1, "it says that there is something");
    claim(found && secret_item_get_locked(found->data), "which is locked");
    length_and_free(found);
    NEEDED(secret_password_store_sync(&account, SECRET_COLLECTION_SESSION, "S", "short", NULL, &error,
               "name", "session", NULL), "store");
    claim_password(LOOKUP(&account, "name", "session"), "short", "the session's collection is open");
    SecretService *whole = whole_service();
    SecretCollection *login = NEEDED(
        secret_collection_for_alias_sync(whole, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_LOAD_ITEMS, NULL, &error),
        "alias");
    claim(login && secret_collection_get_locked(login), "the default collection says that it is locked");
    claim(login && length_and_free(secret_collection_get_items(login)) > 0, "and lists its items");
    GList *closed = g_list_append(NULL, login);
    claim_number(secret_service_unlock_sync(whole, closed, NULL, NULL, &error) > 0, 0, "it does not open by being asked");
    g_clear_error(&error);
    g_list_free(closed);
    g_clear_object(&login);
    g_object_unref(whole);
}

static void opened(void)
{
    claim_password(LOOKUP(&account, "name", "kept"), "kept secret", "once it is open everything is there");
    claim_password(LOOKUP(&account, "name", "new"), NULL, "and nothing that was refused");
}

int main(int count, char **arguments)
{
    program = arguments[0];
    const char *part = count > 1 ? arguments[1] : "";
    const struct { const char *name; void (*run)(void); } parts[] = {
        {"passwords", passwords}, {"service", service}, {"collections", collections}, {"types", types},
        {"watch-lock", watch_lock}, {"watch-collections", watch_collections}, {"many", many}, {"locked", locked},
        {"open", opened}};
    if (g_str_equal(part, "keep")) return !store("Kept", "kept secret", "kept", 1, TRUE);
    if (g_str_equal(part, "signals") && count == 3) {
        signals(arguments[2]);
        return 0;
    }
    if (g_str_equal(part, "other") && count == 5) {
        be_other(arguments[2], arguments[3], arguments[4]);
        return 0;
    }
    for (gsize index = 0; index < G_N_ELEMENTS(parts); index++) {
        if (!g_str_equal(part, parts[index].name)) continue;
        parts[index].run();
        return 0;
    }
    fprintf(stderr, "usage: libsecret PART\n");
    return 2;
}
