"""The same calls of the Secret Service to two services, and where they answer differently.

Usage: secret-service-differential ADDRESS ADDRESS [STEPS [SEED]]: bus addresses, each with
a service whose default collection is open. Items are called by their labels, which are
never given twice.
"""
import random, sys
import dbus, dbus.bus

NAME, ROOT, S = 'org.freedesktop.secrets', '/org/freedesktop/secrets', 'org.freedesktop.Secret.'


class Service:
    def __init__(self, address):
        self.bus = dbus.bus.BusConnection(address)
        self.service = self.at(ROOT, S + 'Service')
        self.session = self.service.OpenSession('plain', dbus.String('', variant_level=1))[1]
        self.paths = {}

    def at(self, path, interface):
        return dbus.Interface(self.bus.get_object(NAME, path, introspect=False), interface)

    def property(self, path, interface, name):
        return self.at(path, 'org.freedesktop.DBus.Properties').Get(S + interface, name)

    def label(self, path):
        return str(self.property(path, 'Item', 'Label'))

    def add(self, label, attributes, value, replace):
        secret = dbus.Struct((self.session, dbus.ByteArray(b''), dbus.ByteArray(value), 'text/plain'), signature='oayays')
        properties = dbus.Dictionary({S + 'Item.Label': label,
                                      S + 'Item.Attributes': dbus.Dictionary(attributes, signature='ss')}, signature='sv')
        item, prompt = self.at(ROOT + '/aliases/default', S + 'Collection').CreateItem(properties, secret, replace)
        return (str(prompt), self.label(item))

    def search(self, attributes):
        wanted = dbus.Dictionary(attributes, signature='ss')
        open, closed = self.service.SearchItems(wanted)
        here = self.at(ROOT + '/aliases/default', S + 'Collection').SearchItems(wanted)
        return (sorted(map(self.label, open)), sorted(map(self.label, closed)), sorted(map(self.label, here)))

    def find(self, label, attributes):
        for path in self.service.SearchItems(dbus.Dictionary(attributes, signature='ss'))[0]:
            if self.label(path) == label: return path
        raise KeyError(label)

    def show(self, label, attributes):
        path = self.find(label, attributes)
        secret = self.at(path, S + 'Item').GetSecret(self.session)
        many = self.service.GetSecrets([path], self.session)
        held = dict(self.property(path, 'Item', 'Attributes'))
        return (bytes(secret[2]), str(secret[3]), [bytes(each[2]) for each in many.values()],
                # gnome-keyring says this of some that were stored without one.
                {str(k): str(v) for k, v in held.items() if v != 'org.freedesktop.Secret.Generic'}, bool(self.property(path, 'Item', 'Locked')))

    def delete(self, label, attributes):
        return str(self.at(self.find(label, attributes), S + 'Item').Delete())

    def change(self, label, attributes, new_label, new_attributes, value):
        path = self.find(label, attributes)
        properties = self.at(path, 'org.freedesktop.DBus.Properties')
        properties.Set(S + 'Item', 'Label', dbus.String(new_label, variant_level=1))
        properties.Set(S + 'Item', 'Attributes', dbus.Dictionary(new_attributes, signature='ss', variant_level=1))
        secret = dbus.Struct((self.session, dbus.ByteArray(b''), dbus.ByteArray(value), 'text/plain'), signature='oayays')
        self.at(path, S + 'Item').SetSecret(secret)
        return self.label(path)

    def all(self):
        return sorted(map(self.label, self.property(ROOT + '/aliases/default', 'Collection', 'Items')))


def attributes(random, most):
    names = ['server', 'user', 'a b', 'port', 'é']
    found = {random.choice(names): random.choice(['', '1', 'x', 'ü', 'long' * 20]) for _ in range(random.randrange(most + 1))}
    if random.random() < 0.2: found['xdg:schema'] = random.choice(['org.example.One', 'org.example.Two'])
    return found


def main():
    services = [Service(address) for address in sys.argv[1:3]]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    known, differences = {}, 0

    def both(what, *arguments):
        nonlocal differences
        answers = []
        for service in services:
            try: answers.append(getattr(service, what)(*arguments))
            except dbus.DBusException as error: answers.append('error ' + error.get_dbus_name())
            except KeyError: answers.append('it is not found')
        if answers[0] != answers[1]:
            differences += 1
            print(f'{step} {what} {arguments}:\n  {answers[0]}\n  {answers[1]}')
            if differences > 3: sys.exit(1)
        return answers[0]

    for step in range(steps):
        what = rng.randrange(10)
        if what < 4:
            label, wanted = f'item {step}', attributes(rng, 3)
            # gnome-keyring replaces the first that has all of the attributes and maybe others;
            # Latchkey the one that has these alone. They agree where there is no other.
            matches = [name for name, held in known.items() if wanted.items() <= held.items()]
            replace = rng.random() < 0.5 and (not matches or len(matches) == 1 and known[matches[0]] == wanted)
            both('add', label, wanted, b'value %d' % step, replace)
            if replace and matches: del known[matches[0]]
            known[label] = wanted
        elif what < 7:
            both('search', attributes(rng, 2))
        elif known:
            label = rng.choice(sorted(known))
            if what == 7: both('show', label, known[label])
            elif what == 8:
                both('delete', label, known.pop(label))
            else:
                new = attributes(rng, 3)
                held = known.pop(label)
                # Without one gnome-keyring keeps the former schema for some purposes and not for others.
                if 'xdg:schema' in held: new.setdefault('xdg:schema', held['xdg:schema'])
                both('change', label, held, f'changed {step}', new, b'changed %d' % step)
                known[f'changed {step}'] = new
        if step % 50 == 0: both('all')
    both('all')
    print(f'{steps} steps, {differences} differences')
    sys.exit(1 if differences else 0)


main()
