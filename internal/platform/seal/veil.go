package seal

import "encoding/binary"

// veilRounds of a Feistel network, keyed as SipHash is, make a permutation that cannot be told from a random one even
// by an attacker who chooses values in both directions (Luby and Rackoff). Here an attacker cannot choose: what is
// veiled is a keyed hash.
const veilRounds = 4

// Veil hides fingerprints as one partner keeps them: a permutation of the 64-bit numbers under a key of the partner's
// own. Equal values of one partner stay equal, those of two partners have nothing in common.
type Veil struct{ key sipKey }

func (k *Keys) PartnerVeil(partner string) Veil {
	if key, ok := k.match.veils.Load(partner); ok {
		v, _ := key.(Veil) // only veils are stored
		return v
	}
	v := Veil{newSipKey(k.match.secret, []byte(labelVeil+partner))}
	k.match.veils.Store(partner, v)
	return v
}

func (v Veil) HideFingerprint(fingerprint uint64) uint64 {
	left, right := uint32(fingerprint>>32), uint32(fingerprint)
	for round := range byte(veilRounds) {
		left, right = right, left^v.feistelRound(round, right)
	}
	return uint64(left)<<32 | uint64(right)
}

// ShowFingerprint undoes HideFingerprint.
func (v Veil) ShowFingerprint(hidden uint64) uint64 {
	left, right := uint32(hidden>>32), uint32(hidden)
	for round := byte(veilRounds); round > 0; round-- {
		left, right = right^v.feistelRound(round-1, left), left
	}
	return uint64(left)<<32 | uint64(right)
}

// feistelRound is one round of the Feistel network.
func (v Veil) feistelRound(number byte, half uint32) uint32 {
	var msg [5]byte
	msg[0] = number
	binary.LittleEndian.PutUint32(msg[1:], half)
	return uint32(v.key.hashMessage(msg[:])) // half of the hash is what a round needs
}
