package segment

import "context"

// merge appends the union of the runs to out. It keeps a binary heap of the runs by their next key.
func merge(ctx context.Context, out *run, runs []*run) error {
	heap := make([]*runReader, 0, len(runs))
	for _, r := range runs {
		rr, err := newRunReader(r)
		if err != nil {
			return err
		}
		more, err := rr.fill()
		if err != nil {
			return err
		}
		if more {
			heap = append(heap, rr)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		siftDown(heap, i)
	}
	batch := make([]uint64, 0, pageKeys)
	for len(heap) > 0 {
		top := heap[0]
		batch = append(batch, top.keys[0])
		top.keys = top.keys[1:]
		if len(batch) == cap(batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := out.add(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if len(top.keys) == 0 {
			more, err := top.fill()
			if err != nil {
				return err
			}
			if !more {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
			}
		}
		siftDown(heap, 0)
	}
	return out.add(batch)
}

// siftDown restores the heap order below i.
func siftDown(heap []*runReader, i int) {
	for {
		least := 2*i + 1
		if least >= len(heap) {
			return
		}
		if r := least + 1; r < len(heap) && heap[r].keys[0] < heap[least].keys[0] {
			least = r
		}
		if heap[i].keys[0] <= heap[least].keys[0] {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
