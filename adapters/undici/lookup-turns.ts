/** Limits simultaneous look-ups. */
export interface LookupLimits {
  readonly perPartition: number;
  /** The limit for all partitions together; each partition may always have one more. */
  readonly all: number;
}

interface LookupTurns {
  /**
   * Resolves when a look-up of the partition may begin, with the function that ends it. Rejects when the signal aborts first.
   */
  enter(partition: string, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly partition: string;
  begin(): void;
}

/** So a partition with unresolvable names delays only its own look-ups. */
export function lookupTurns({ perPartition, all }: LookupLimits = { perPartition: 8, all: 128 }): LookupTurns {
  const running = new Map<string, number>();
  let total = 0;
  const waiting = new Set<Waiting>();

  const mayBegin = (partition: string): boolean => {
    const own = running.get(partition) ?? 0;
    return own === 0 || (own < perPartition && total < all);
  };
  const begin = (partition: string): (() => void) => {
    running.set(partition, (running.get(partition) ?? 0) + 1);
    total += 1;
    let ended = false;
    return () => {
      if (!ended) end(partition);
      ended = true;
    };
  };
  const end = (partition: string): void => {
    const left = (running.get(partition) ?? 1) - 1;
    if (left > 0) running.set(partition, left);
    else running.delete(partition);
    total -= 1;
    for (const next of waiting) if (mayBegin(next.partition)) next.begin();
  };

  return {
    enter: (partition, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (mayBegin(partition)) return Promise.resolve(begin(partition));
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(entry);
          signal.removeEventListener('abort', giveUp);
        };
        const entry: Waiting = {
          partition,
          begin: () => {
            leave();
            resolve(begin(partition));
          },
        };
        const giveUp = (): void => {
          leave();
          reject(signal.reason);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(entry);
      });
    },
  };
}
