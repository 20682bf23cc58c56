package reader

// limitResources does nothing: Windows has no resource limits of this kind.
func limitResources(*Confinement) {}
