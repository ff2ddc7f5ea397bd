@_implementationOnly import CLatchkeyPlatform
internal import Synchronization

/// The process's one slab for secrets: 1 MiB, mapped once, locked where the
/// limit allows it, left out of core dumps and not there in a forked child.
///
/// In our own programs it is hidden as well (memfd_secret(2)), so that nobody reads it
/// from outside, root included; while such memory is there the machine cannot hibernate,
/// so that no other program gets it by linking us.
///
/// Blocks are powers of two from 32 bytes to 64 KiB; a block that is given back
/// is wiped first. A request that does not fit gets a mapping of its own with
/// the same protection. (An ordinary user may lock 8 MiB in all.)
package final class SecretArena: Sendable {
    package static let shared = SecretArena(byteCount: 1 << 20)
    /// What the slab is to be; counts until it is first used.
    private static let isToBeHidden = Atomic(false)

    /// Before anything secret is there.
    package static func hide() { isToBeHidden.store(true, ordering: .releasing) }

    static let smallestShift = 5
    static let largestShift = 16

    private struct State {
        var next = 0
        /// By the shift of their size, up to `largestShift`: the block that was given back
        /// last, 0 where none was. Its first bytes are the address of the one before it.
        var free = InlineArray<17, UInt>(repeating: 0)
        var ownMappings = 0
        var unlockedMappings = 0
    }

    private let base: UInt
    private let byteCount: Int
    /// Whether the kernel agreed to keep the slab out of swap.
    package let isLocked: Bool
    /// Whether the slab is hidden from everybody but this process.
    package let isHidden: Bool
    private let state = Mutex(State())

    init(byteCount: Int) {
        var kind: Int32 = 0
        let hidden: Int32 = Self.isToBeHidden.load(ordering: .acquiring) ? 1 : 0
        let at = unsafe UInt(bitPattern: lk_map_slab(byteCount, hidden, &kind))
        base = at
        self.byteCount = at == 0 ? 0 : byteCount
        isLocked = kind != 0
        isHidden = kind == 2
    }

    /// How many secrets live outside the slab now, and how many mappings could
    /// not be locked since the process started.
    package var overflow: (ownMappings: Int, unlocked: Int) {
        state.withLock { ($0.ownMappings, $0.unlockedMappings) }
    }

    private static func shift(for count: Int) -> Int? {
        guard count <= 1 << largestShift else { return nil }
        var shift = smallestShift
        while 1 << shift < count { shift += 1 }
        return shift
    }

    /// A zeroed block of at least `count` bytes, of the slab where it fits; nil
    /// where the kernel gives no memory.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        if let shift = Self.shift(for: count), let address = takeBlock(shift) {
            return unsafe UnsafeMutableRawPointer(bitPattern: address)
        }
        var locked: Int32 = 0
        guard let own = unsafe lk_map_secret(max(count, 1), &locked) else { return nil }
        let isLocked = locked != 0
        state.withLock {
            $0.ownMappings += 1
            if !isLocked { $0.unlockedMappings += 1 }
        }
        return unsafe own
    }

    func release(_ pointer: UnsafeMutableRawPointer, _ count: Int) {
        let address = UInt(bitPattern: pointer)
        if address >= base, address < base + UInt(byteCount), let shift = Self.shift(for: count) {
            unsafe lk_wipe(pointer, count)
            state.withLock {
                unsafe pointer.storeBytes(of: $0.free[shift], as: UInt.self)
                $0.free[shift] = address
            }
        } else {
            unsafe lk_unmap_secret(pointer, max(count, 1))
            state.withLock { $0.ownMappings -= 1 }
        }
    }

    private func takeBlock(_ shift: Int) -> UInt? {
        state.withLock { state in
            let reused = state.free[shift]
            if let block = unsafe UnsafeMutableRawPointer(bitPattern: reused) {
                let before = unsafe block.load(as: UInt.self)
                precondition(
                    before == 0 || (before >= base && before < base + UInt(byteCount)),
                    "a block of the slab was written to after it was given back")
                state.free[shift] = before
                unsafe block.storeBytes(of: 0, as: UInt.self)
                return reused
            }
            let size = 1 << shift
            guard state.next + size <= byteCount else { return nil }
            defer { state.next += size }
            return base + UInt(state.next)
        }
    }
}
