/// The mode of a file, as an operator sets it.
import Glibc

func chmodFile(_ path: String, _ mode: UInt32) -> Bool { unsafe chmod(path, mode) == 0 }
