/* A program within Flatpak's sandbox.

       client secret    asks the portal for the application's secret: prints the portal's code, the bytes that
                        came, and "closed" where nobody can write more
       client reach     calls the Secret Service itself: prints "reached", or the error's name */

#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static GMainLoop *loop;
static guint32 code;

static void answered(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
                     const char *signal, GVariant *values, gpointer data)
{
    g_variant_get(values, "(u@a{sv})", &code, NULL);
    g_main_loop_quit(loop);
}

static int failed(GError *error)
{
    g_autofree char *name = g_dbus_error_get_remote_error(error);
    puts(name ? name : error->message);
    return 0;
}

static int secret(GDBusConnection *bus)
{
    GError *error = NULL;
    int ends[2];
    if (pipe(ends))
        return 1;
    loop = g_main_loop_new(NULL, FALSE);
    g_dbus_connection_signal_subscribe(bus, NULL, "org.freedesktop.portal.Request", "Response", NULL, NULL,
                                       G_DBUS_SIGNAL_FLAGS_NONE, answered, NULL, NULL);
    GUnixFDList *list = g_unix_fd_list_new_from_array(&ends[1], 1);
    GVariant *answer = g_dbus_connection_call_with_unix_fd_list_sync(
        bus, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Secret",
        "RetrieveSecret", g_variant_new("(ha{sv})", 0, NULL), G_VARIANT_TYPE("(o)"), G_DBUS_CALL_FLAGS_NONE, -1,
        list, NULL, NULL, &error);
    g_object_unref(list);
    if (!answer)
        return failed(error);
    g_main_loop_run(loop);
    printf("%u ", code);
    /* gnome-keyring keeps its end open where it writes nothing. */
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    unsigned char byte;
    ssize_t came = -1;
    while (poll(&end, 1, 1000) == 1 && (came = read(ends[0], &byte, 1)) == 1)
        printf("%02x", byte);
    puts(came == 0 ? " closed" : " open");
    return 0;
}

static int reach(GDBusConnection *bus)
{
    GError *error = NULL;
    GVariant *answer = g_dbus_connection_call_sync(
        bus, "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "ReadAlias",
        g_variant_new("(s)", "default"), G_VARIANT_TYPE("(o)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    if (!answer)
        return failed(error);
    puts("reached");
    return 0;
}

int main(int count, char **words)
{
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    alarm(30); /* What is not answered by then hangs. */
    if (!bus || count != 2)
        return 2;
    return strcmp(words[1], "secret") ? reach(bus) : secret(bus);
}
