import { ok, ResultAsync } from 'neverthrow';
import { instruments } from '../../metrics/instruments.js';
import type { StorageError, StoreFigures } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';

/** How long figures are reused, in milliseconds: unauthenticated callers may request them. */
const validFor = 5 * second;

interface Known {
  readonly since: number;
  readonly figures: Promise<StoreFigures>;
}

const known = new WeakMap<EngineContext['storage'], Known>();
const none: StoreFigures = { families: [], notes: [] };

/** The figures of the engine's store; none if it has none, and a note if they cannot be read. */
export function storeFigures({ storage, clock }: EngineContext): ResultAsync<StoreFigures, never> {
  if (storage.figures === undefined) return new ResultAsync(Promise.resolve(ok(none)));
  const now = clock.monotonic();
  const last = known.get(storage);
  if (last !== undefined && now - last.since < validFor) return ResultAsync.fromSafePromise(last.figures);
  const figures = storage.figures().match(
    (read) => read,
    ({ message }): StoreFigures => ({ families: [], notes: [`The figures of the store cannot be read: ${message}`] }),
  );
  known.set(storage, { since: now, figures });
  return ResultAsync.fromSafePromise(figures);
}

/** The state of the store as such, for operators. */
export interface StoreStatus {
  /** Index of the last write. */
  readonly Index: number;
  /** None if the store has no figures, such as one in memory. Counters start at zero in each process. */
  readonly Figures: readonly {
    readonly Name: string;
    readonly Unit: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Value: number;
  }[];
  /** Sentences that explain figures. */
  readonly Notes: readonly string[];
}

/** Sizes and counts of the store, and which sessions hold up the removal of old rows. Needs `operator:read`. */
export function readStoreStatus(context: EngineContext): ResultAsync<StoreStatus, StorageError> {
  return context.storage
    .read(({ index }) => index)
    .andThen((Index) =>
      storeFigures(context).map(({ families, notes }) => ({
        Index,
        Figures: families.flatMap(({ name, measured }) =>
          measured.map(({ labels, value }) => ({
            ...{ Name: name, Unit: instruments[name].unit, Labels: labels, Value: value },
          })),
        ),
        Notes: notes,
      })),
    );
}
