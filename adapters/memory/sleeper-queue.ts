export interface Sleeper {
  readonly at: number;
  /** Order of the calls to sleep, which decides between equal times. */
  readonly order: number;
  readonly wake: () => void;
  dropped: boolean;
}

export interface SleeperQueue {
  add(at: number, order: number, wake: () => void): Sleeper;
  /** Removes a sleeper that was woken by other means. */
  drop(sleeper: Sleeper): void;
  /** The sleeper with the earliest time. */
  first(): Sleeper | null;
  takeFirst(): void;
  readonly size: number;
}

/** A binary heap by time and order. Removed sleepers stay in it until they reach the top or are half of its entries. */
export function sleeperQueue(): SleeperQueue {
  let heap: Sleeper[] = [];
  let dropped = 0;

  const add = (at: number, order: number, wake: () => void): Sleeper => {
    const sleeper = { at, order, wake, dropped: false };
    heap.push(sleeper);
    riseFrom(heap, heap.length - 1);
    return sleeper;
  };

  const drop = (sleeper: Sleeper): void => {
    if (sleeper.dropped) return;
    sleeper.dropped = true;
    dropped += 1;
    if (dropped > 64 && dropped * 2 > heap.length) {
      // A sorted array is a heap.
      heap = heap.filter((each) => !each.dropped).sort((a, b) => a.at - b.at || a.order - b.order);
      dropped = 0;
    }
  };

  const first = (): Sleeper | null => {
    while (heap[0]?.dropped === true) {
      takeFirst(heap);
      dropped -= 1;
    }
    return heap[0] ?? null;
  };

  return {
    add,
    drop,
    first,
    takeFirst: () => {
      if (first() !== null) takeFirst(heap);
    },
    get size() {
      return heap.length - dropped;
    },
  };
}

function isBefore(a: Sleeper, b: Sleeper): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function riseFrom(heap: Sleeper[], from: number): void {
  let position = from;
  while (position > 0) {
    const parent = (position - 1) >> 1;
    if (!isBefore(heap[position] as Sleeper, heap[parent] as Sleeper)) return;
    swap(heap, position, parent);
    position = parent;
  }
}

function takeFirst(heap: Sleeper[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  let position = 0;
  for (;;) {
    const left = position * 2 + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const child = right < heap.length && isBefore(heap[right] as Sleeper, heap[left] as Sleeper) ? right : left;
    if (!isBefore(heap[child] as Sleeper, heap[position] as Sleeper)) return;
    swap(heap, position, child);
    position = child;
  }
}

function swap(heap: Sleeper[], a: number, b: number): void {
  const kept = heap[a] as Sleeper;
  heap[a] = heap[b] as Sleeper;
  heap[b] = kept;
}
