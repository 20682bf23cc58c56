package partner

import "context"

// Refresh is one poll of Watch.
func (g *Gate) Refresh(ctx context.Context) { g.refresh(ctx) }
