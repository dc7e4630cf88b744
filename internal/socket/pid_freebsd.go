package socket

func peerPID(int) int { return 0 }
