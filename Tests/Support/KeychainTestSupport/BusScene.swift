/// What is on a test's bus beside fprintd.
enum BusScene {
    static let script = #"""
        # The system bus of a test: logind and polkit are played, fprintd is the real one with
        # libfprint's virtual device, or played where a test has it fail. A line of input is a
        # command, answered by a line.
        import ctypes, os, select, signal, socket, sys
        import dbus, dbus.lowlevel, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib

        # polkit in a process of its own: who waits for fprintd cannot answer it.
        is_polkit = os.fork() == 0
        if is_polkit:
            # It ends with the scene, and keeps nothing open that tells of the scene's end.
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.closerange(3, 4096)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        DBusGMainLoop(set_as_default=True)
        bus = dbus.bus.BusConnection('unix:path=' + sys.argv[1])
        folder = sys.argv[2]
        PRINT = 'net.reactivated.Fprint'
        LOGIN = 'org.freedesktop.login1'
        kept, played, inhibitors = [], [], []


        def say(text):
            sys.stdout.write(text + '\n')
            sys.stdout.flush()


        class Polkit(dbus.service.Object):
            @dbus.service.method('org.freedesktop.PolicyKit1.Authority', in_signature='(sa{sv})sa{ss}us',
                                 out_signature='(bba{ss})')
            def CheckAuthorization(self, subject, action, details, flags, cancellation):
                return (True, False, {})


        class Logind(dbus.service.Object):
            @dbus.service.method(LOGIN + '.Manager', in_signature='ssss', out_signature='h')
            def Inhibit(self, what, who, why, mode):
                ours, theirs = os.pipe()
                # fprintd, which is on this bus as well, has one of its own.
                (inhibitors if who == 'Latchkey' else kept).append((what + ' ' + mode, ours))
                fd = dbus.types.UnixFd(theirs)
                os.close(theirs)
                return fd

            @dbus.service.signal(LOGIN + '.Manager', signature='b')
            def PrepareForSleep(self, start):
                pass


        class Session(dbus.service.Object):
            def __init__(self, user):
                self.user = user
                super().__init__(bus, '/org/freedesktop/login1/session/_%d' % user)

            @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
            def Get(self, interface, name):
                return dbus.Struct((dbus.UInt32(self.user), dbus.ObjectPath('/org/freedesktop/login1/user/_1')),
                                   signature='uo', variant_level=1)

            @dbus.service.signal(LOGIN + '.Session', signature='')
            def Lock(self):
                pass

            @dbus.service.signal('org.freedesktop.DBus.Properties', signature='sa{sv}as')
            def PropertiesChanged(self, interface, changed, gone):
                pass


        class Reader(dbus.service.Object):
            # fprintd as a test would have it.
            def __init__(self, fault):
                self.fault = fault
                super().__init__(bus, '/net/reactivated/Fprint/Manager')
                self.device = Device(fault)

            @dbus.service.method(PRINT + '.Manager', out_signature='o', async_callbacks=('reply', 'error'))
            def GetDefaultDevice(self, reply, error):
                if self.fault != 'hangs':
                    reply('/net/reactivated/Fprint/Device/0')
                else:
                    kept.append(reply)


        class Device(dbus.service.Object):
            def __init__(self, fault):
                self.fault = fault
                super().__init__(bus, '/net/reactivated/Fprint/Device/0')

            @dbus.service.method(PRINT + '.Device', in_signature='s', out_signature='as')
            def ListEnrolledFingers(self, user):
                return dbus.Array(['left-thumb'], signature='s')

            @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
            def Get(self, interface, name):
                return 'press'

            @dbus.service.method(PRINT + '.Device', in_signature='s')
            def Claim(self, user):
                if self.fault == 'busy':
                    raise dbus.DBusException('taken', name=PRINT + '.Error.AlreadyInUse')
                if self.fault == 'another':
                    # Whoever has it is recognized, and lets go.
                    self.fault = 'none'
                    self.VerifyStatus('verify-match', True)
                    raise dbus.DBusException('taken', name=PRINT + '.Error.AlreadyInUse')

            @dbus.service.method(PRINT + '.Device')
            def Release(self):
                pass

            @dbus.service.method(PRINT + '.Device', in_signature='s')
            def VerifyStart(self, finger):
                say('started')

            @dbus.service.method(PRINT + '.Device')
            def VerifyStop(self):
                pass

            @dbus.service.signal(PRINT + '.Device', signature='sb')
            def VerifyStatus(self, result, done):
                pass


        def is_held(inhibitor):
            # The other end is open.
            look = select.poll()
            look.register(inhibitor, 0)
            return not look.poll(0)


        def own(name):
            bus.request_name(name, dbus.bus.NAME_FLAG_DO_NOT_QUEUE)


        def to_reader(text):
            with socket.socket(socket.AF_UNIX) as door:
                door.connect(folder + '/reader')
                door.sendall(text.encode())


        def enroll(print_name, then):
            manager = dbus.Interface(bus.get_object(PRINT, '/net/reactivated/Fprint/Manager'), PRINT + '.Manager')
            device = bus.get_object(PRINT, manager.GetDefaultDevice())
            device.Claim('', dbus_interface=PRINT + '.Device')

            def on_status(result, done):
                if done:
                    device.EnrollStop(dbus_interface=PRINT + '.Device')
                    device.Release(dbus_interface=PRINT + '.Device')
                    match.remove()
                    then(result)
                else:
                    to_reader('SCAN ' + print_name)
            match = device.connect_to_signal('EnrollStatus', on_status, dbus_interface=PRINT + '.Device')
            device.EnrollStart('right-index-finger', dbus_interface=PRINT + '.Device')
            to_reader('SCAN ' + print_name)


        def waits_for_finger(wanted):
            # Once fprintd looks at fingers, or no more.
            manager = dbus.Interface(bus.get_object(PRINT, '/net/reactivated/Fprint/Manager'), PRINT + '.Manager')
            device = bus.get_object(PRINT, manager.GetDefaultDevice())
            needed = device.Get(PRINT + '.Device', 'finger-needed', dbus_interface='org.freedesktop.DBus.Properties')
            if bool(needed) == wanted:
                say('needed' if wanted else 'not needed')
                return False
            return True


        def hear(channel, condition):
            line = sys.stdin.readline()
            if not line:
                loop.quit()
                return False
            words = line.split()
            if words[0] == 'enroll':
                enroll(words[1], say)
            elif words[0] == 'reader':
                to_reader(line[len('reader '):].rstrip('\n'))
                say('done')
            elif words[0] in ('await-finger', 'await-no-finger'):
                GLib.timeout_add(5, waits_for_finger, words[0] == 'await-finger')
            elif words[0] == 'play-reader':
                played.append(Reader(words[1]))
                own(PRINT)
                say('done')
            elif words[0] == 'status':
                played[-1].device.VerifyStatus(words[1], words[2] == 'done')
                say('done')
            elif words[0] == 'stranger':
                # The same signal of the same object, of a connection that nobody asked.
                other = dbus.bus.BusConnection('unix:path=' + sys.argv[1])
                message = dbus.lowlevel.SignalMessage('/net/reactivated/Fprint/Device/0', PRINT + '.Device', 'VerifyStatus')
                message.append(words[1], True, signature='sb')
                other.send_message(message)
                other.flush()
                say('done')
            elif words[0] == 'leave':
                bus.release_name(words[1])
                say('done')
            elif words[0] == 'play-logind':
                own(LOGIN)
                say('done')
            elif words[0] == 'sleep':
                logind.PrepareForSleep(words[1] == 'begins')
                say('done')
            elif words[0] == 'inhibitors':
                say(','.join(name for name, held in inhibitors if is_held(held)) or 'none')
            elif words[0] == 'await-release':
                # The first's other end is closed, whenever that is.
                GLib.io_add_watch(inhibitors.pop(0)[1], GLib.IO_HUP, lambda *_: say('released') or False)
            elif words[0] == 'lock':
                sessions[words[1]].Lock()
                say('done')
            elif words[0] == 'hint':
                sessions[words[1]].PropertiesChanged(LOGIN + '.Session', {
                    'IdleHint': True, 'LockedHint': words[2] == 'on', 'Name': 'x'}, [])
                say('done')
            return True


        loop = GLib.MainLoop()
        if is_polkit:
            own('org.freedesktop.PolicyKit1')
            Polkit(bus, '/org/freedesktop/PolicyKit1/Authority')
            bus.set_exit_on_disconnect(True)
            loop.run()
        logind = Logind(bus, '/org/freedesktop/login1')
        sessions = {'ours': Session(os.getuid()), 'others': Session(os.getuid() + 1)}
        GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, hear)
        say('ready')
        loop.run()
        # The test is over, however it ended.
        os.kill(int(sys.argv[3]), signal.SIGKILL)

        """#
}
