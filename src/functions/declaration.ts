import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { Json } from './stored-json.js';

/** A function as the code of a process declares it, for readers in any process: its policy, and no code. Times are in milliseconds. */
export interface FunctionDeclaration extends DeclaredPolicy {
  readonly name: string;
  /** Whose rights count for the function and its runs. */
  readonly namespace: string;
  readonly version: number;
  /** Whether the declaring process has a handler. Those without one only enqueue, and know nothing of the policy. */
  readonly hasHandler: boolean;
  /** Since when no process has the function, as far as that was noticed; absent while one has. Wall time. */
  readonly missingSince?: Instant;
}

/** The policy of a function that readers see. */
export interface DeclaredPolicy {
  readonly priority: number;
  /** Of one attempt; absent for none. */
  readonly timeout?: number;
  readonly retry: {
    /** Calls of the handler, the first one included. */
    readonly attempts: number;
    /** `function`: computed by code. A list: the wait after each attempt. */
    readonly backoff: 'exponential' | 'fixed' | 'function' | readonly number[];
    readonly delay: number;
    readonly factor: number;
    readonly max: number;
    readonly jitter: number;
  };
  readonly limits: readonly DeclaredLimit[];
  readonly rates: readonly (DeclaredLimit & { readonly per: number; readonly burst: number })[];
  readonly crons: readonly DeclaredCron[];
  readonly keep: { readonly succeeded: DeclaredKeep; readonly others: DeclaredKeep };
}

/** A schedule of the code, without its input. */
export interface DeclaredCron {
  readonly id: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly missed: 'skip' | 'once' | 'all';
  readonly overlap: 'allow' | 'skip' | 'queue';
}

/** Bounds of the ended runs that are kept. `age` in milliseconds. */
export interface DeclaredKeep {
  readonly age: number;
  readonly count: number;
}

/** A limit or rate. */
export interface DeclaredLimit {
  readonly limit: number;
  readonly scope: string;
  /** Whether each key is counted separately. */
  readonly perKey: boolean;
}

export const declarations = table<FunctionDeclaration>('function_declarations', ({ name }) => [name], {
  by_namespace: { version: 1, key: ({ namespace, name }) => [namespace, name] },
});

/** A schedule of a function, beside its next launch. */
export interface StoredSchedule extends DeclaredCron {
  readonly function: string;
  readonly input?: Json;
  /** The version of the code that declared it; null for one that was added by `schedule`. */
  readonly version: number | null;
  /** The next launch. */
  readonly dueAt: Instant;
  /** The number of the run of the last launch, or of the one that the last one waits for. */
  readonly lastRun?: number;
  /** The number of the run that was launched to wait for the end of `lastRun`. */
  readonly waitingRun?: number;
}

export const schedules = table<StoredSchedule>('function_schedules', ({ function: name, id }) => [name, id], {
  due: { version: 1, key: ({ function: name, dueAt, id }) => [name, dueAt, id] },
});

/**
 * Whether a declaration replaces the stored one: that of a later version of the code, and among equal ones the last. One without a
 * handler never replaces one with a handler.
 */
export function replaces(declared: FunctionDeclaration, known: FunctionDeclaration | undefined): boolean {
  if (known === undefined) return true;
  if (declared.hasHandler !== known.hasHandler) return declared.hasHandler;
  return declared.version >= known.version && JSON.stringify(declared) !== JSON.stringify(known);
}
