import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../ports/clock.js';
import type { ReadView, Row, Storage, StorageError, WriteView } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Key, Table, TableName } from '../../shared/table.js';
import type { AnyTable } from '../../storage/records.js';
import { ViewOver } from '../../storage/views.js';

/** The part of a table that affects a result. A table without a part means all of its rows. */
export interface Watch extends TableName {
  /** `none`: no row, for a reader that sees nothing. */
  readonly part?: 'none' | Part;
}

/** The rows whose primary key, or whose key in an index, begins with a prefix. */
interface Part {
  readonly table: AnyTable;
  readonly index: string | undefined;
  readonly prefix: Key;
}

/** The rows of a table under a prefix of the primary key, or of an index. */
export function rowsUnder<R>(table: Table<R>, prefix: Key, index?: string): Watch {
  return { name: table.name, part: { table, index, prefix } };
}

/** No row of a table: a result that never changes, with the table's index. */
export function noRows({ name }: TableName): Watch {
  return { name, part: 'none' };
}

/** Rows by the first part of their key; none when there are no names. */
export function rowsNamed<R>(table: Table<R>, names: readonly string[], index?: string): readonly Watch[] {
  return names.length === 0 ? [noRows(table)] : names.map((name) => rowsUnder(table, [name], index));
}

/**
 * The rows in the namespaces that the globs match, of a table that is ordered by namespace or has the index `by_namespace`; all rows if
 * one of the globs has a wildcard.
 */
export function rowsInNamespaces(table: Table<never>, globs: readonly string[]): readonly Watch[] {
  if (globs.some((glob) => glob.includes('*'))) return [table];
  return rowsNamed(table, globs, Object.hasOwn(table.indexes, 'by_namespace') ? 'by_namespace' : undefined);
}

/** A row that a write has put or removed. */
interface RowChange {
  readonly table: AnyTable;
  readonly key: Key;
  /** Undefined for a new row; `unknown` when the table was not watched at the time. */
  readonly before: Row<unknown> | undefined | 'unknown';
  /** Undefined for a removal. */
  readonly after: unknown;
}

/** Records the changes of one run of a write's work, and the first index that it uses. */
export class NotedView extends ViewOver {
  readonly changes: RowChange[] = [];
  readonly from: number;
  readonly #isWatched: (table: TableName) => boolean;

  constructor(view: WriteView, isWatched: (table: TableName) => boolean) {
    super(view);
    this.#isWatched = isWatched;
    this.from = view.index;
  }

  override put<R>(table: Table<R>, record: R): void {
    this.#note(table, table.key(record), record);
    super.put(table, record);
  }

  override remove<R>(table: Table<R>, key: Key): boolean {
    this.#note(table, key, undefined);
    return super.remove(table, key);
  }

  #note<R>(table: Table<R>, key: Key, after: R | undefined): void {
    const before = this.#isWatched(table) ? this.get(table, key) : 'unknown';
    this.changes.push({ table: table, key, before, after });
  }
}

/** Watches of one form: the same index of a table, and prefixes of the same length. */
interface Form<T> {
  readonly index: string | undefined;
  readonly length: number;
  readonly byPrefix: Map<string, Set<T>>;
}

interface TableWatchers<T> {
  readonly ofAll: Set<T>;
  readonly forms: Map<string, Form<T>>;
}

/** Finds the watchers of a changed row without visiting the others. */
class WatchIndex<T> {
  readonly #tables = new Map<string, TableWatchers<T>>();

  add(watches: readonly Watch[], watcher: T): void {
    for (const { name, part } of watches) {
      if (part === 'none') continue;
      const watchers = this.#tables.get(name) ?? { ofAll: new Set<T>(), forms: new Map<string, Form<T>>() };
      this.#tables.set(name, watchers);
      if (part === undefined) watchers.ofAll.add(watcher);
      else addTo(formOf(watchers, part).byPrefix, JSON.stringify(part.prefix), watcher);
    }
  }

  remove(watches: readonly Watch[], watcher: T): void {
    for (const { name, part } of watches) {
      const watchers = this.#tables.get(name);
      if (watchers === undefined || part === 'none') continue;
      if (part === undefined) watchers.ofAll.delete(watcher);
      else {
        const form = formOf(watchers, part);
        removeFrom(form.byPrefix, JSON.stringify(part.prefix), watcher);
        if (form.byPrefix.size === 0) watchers.forms.delete(nameOf(part));
      }
      if (watchers.ofAll.size === 0 && watchers.forms.size === 0) this.#tables.delete(name);
    }
  }

  /** Whether rows of a table are watched. */
  has({ name }: TableName): boolean {
    return this.#tables.has(name);
  }

  /** Calls back for each watcher of the row in its previous or new state; possibly more than once for the same watcher. */
  forEach({ table, key, before, after }: RowChange, found: (watcher: T) => void): void {
    const watchers = this.#tables.get(table.name);
    if (watchers === undefined) return;
    watchers.ofAll.forEach(found);
    for (const { index, length, byPrefix } of watchers.forms.values()) {
      if (index !== undefined && before === 'unknown') {
        for (const each of byPrefix.values()) each.forEach(found);
        continue;
      }
      const keys = index === undefined || before === 'unknown' ? [key] : keysIn(table, index, [before?.record, after]);
      for (const each of keys) byPrefix.get(JSON.stringify(each.slice(0, length)))?.forEach(found);
    }
  }
}

/** The keys that records have in an index. */
function keysIn({ indexes }: AnyTable, index: string, records: readonly unknown[]): readonly Key[] {
  return records.flatMap((record) => {
    const key = record === undefined ? undefined : indexes[index]?.key(record);
    return key === undefined ? [] : [key];
  });
}

function nameOf({ index, prefix }: Part): string {
  return `${prefix.length} ${index ?? ''}`;
}

function formOf<T>({ forms }: TableWatchers<T>, part: Part): Form<T> {
  const name = nameOf(part);
  let form = forms.get(name);
  if (form === undefined) {
    form = { index: part.index, length: part.prefix.length, byPrefix: new Map() };
    forms.set(name, form);
  }
  return form;
}

function addTo<T>(sets: Map<string, Set<T>>, name: string, item: T): void {
  const known = sets.get(name);
  if (known === undefined) sets.set(name, new Set([item]));
  else known.add(item);
}

function removeFrom<T>(sets: Map<string, Set<T>>, name: string, item: T): void {
  const known = sets.get(name);
  known?.delete(item);
  if (known?.size === 0) sets.delete(name);
}

/** Whether a view shows a change of a watched table after an index. */
function changedAfter(view: ReadView, watches: readonly Watch[], index: number): boolean {
  return watches.some((watch) => watch.part !== 'none' && view.tableIndex(watch) > index);
}

/** One result of a query: the same object for every woken reader, so that it is serialised once. */
export interface Answer<T> {
  /** Index of the last write that changed the query's inputs; at least 1. */
  readonly index: number;
  /** The result of the query at that index. */
  readonly value: T;
}

/** The index of an answer that is returned immediately, such as an error: greater than every index of a reader. */
export const atOnce = Number.MAX_SAFE_INTEGER;

export interface BlockingQuery<T> {
  /**
   * Queries with equal keys share one run and one answer. The key must contain everything that `run` depends on. It is computed only
   * when a reader waits: pass a function if it must be serialised.
   */
  readonly key: string | (() => string);
  /** The tables that can change the answer, or the parts of them that can. */
  readonly tables: readonly Watch[];
  readonly run: (view: ReadView) => Answer<T>;
  /** `run` in steps, each in the then current view, for a query that may read many rows. The index is that of the first step. */
  readonly steps?: (current: () => ReadView) => Generator<void, Answer<T>>;
}

type Outcome<T> = Result<Answer<T>, StorageError>;

interface Waiter {
  readonly after: number;
  /** On the monotonic clock; infinite for a reader without a limit. */
  readonly deadline: Milliseconds;
  group: Group | undefined;
  /** The mark of the first snapshot of the wait. */
  readonly mark: number;
  readonly whenRightsChanged: (() => void) | undefined;
  readonly resolve: (outcome: Outcome<unknown>) => void;
}

interface Group {
  readonly key: string;
  /** The caller of its first reader. */
  readonly owner: string;
  readonly query: BlockingQuery<unknown>;
  readonly waiters: Set<Waiter>;
  last: Answer<unknown>;
  /** The store index of the snapshot that gave `last`, and its mark. */
  ranAt: number;
  mark: number;
}

/** The snapshot in which a query ran. */
export interface Snapshot {
  readonly index: number;
  readonly mark: number;
}

/** A reader that waits for an index greater than `after`, and its deadline. */
interface ParkedWait<T> {
  readonly after: number;
  /** The caller: queries of different callers run in turn. */
  readonly owner: string;
  readonly deadline: Milliseconds;
  /** Receives a function that cancels the wait. */
  readonly whenCancelled?: ((cancel: () => void) => void) | undefined;
  /** Called before `resolve` if the result comes from a snapshot with another mark. */
  readonly whenRightsChanged?: (() => void) | undefined;
  /** Called once. */
  readonly resolve: (outcome: Outcome<T>) => void;
}

/** A write of this process: its first and last index, and its changes. */
interface OwnWrite {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly RowChange[];
}

/** Milliseconds after which no further query begins in the same iteration of the event loop. */
const turnLength: Milliseconds = 2;
/** The maximum number of own writes recorded after a foreign one; beyond it, all count as writes of another process. */
const mostOwnWrites = 10_000;
/** The most queries of one iteration, for clocks that stand still, as in tests. */
const mostInTurn = 64;

/**
 * Readers that wait for a change. After a write, each distinct query that watches a changed row runs once for all its
 * readers, and those whose index was passed are answered. Queries run for a few milliseconds in each turn of the event loop, round robin
 * over callers, so that many queries delay neither writes nor the queries of others. Of writes of other processes only the
 * changed tables are known: all queries over these tables run.
 */
export class ParkedQueries {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #tables: readonly TableName[];
  /** Equal for snapshots between which the rights of callers have not changed. */
  readonly markOf: (view: ReadView) => number;
  readonly #groups = new Map<string, Group>();
  readonly #watched = new WatchIndex<Group>();
  /** Groups whose rows have changed since they ran, by owner. */
  readonly #due = new Map<string, Set<Group>>();
  #isRunning = false;
  #watching: AbortController | undefined;
  #alarm: { readonly at: Milliseconds; readonly controller: AbortController } | undefined;
  /** All affected groups of writes up to this index have been marked as due. A group that parks with an older snapshot is due immediately. */
  #seen = 0;
  /** The newest write that has made groups due. */
  #newest = 0;
  /** Writes of this process beyond `#seen`, by their first index: its last index. */
  readonly #own = new Map<number, number>();
  #releases = 0;

  constructor(storage: Storage, clock: Clock, tables: readonly TableName[], markOf: (view: ReadView) => number) {
    this.markOf = markOf;
    this.#storage = storage;
    this.#clock = clock;
    this.#tables = tables;
  }

  /** Whether there are waiting readers. Otherwise writes need not record their changes. */
  get isWatching(): boolean {
    return this.#watching !== undefined;
  }

  /** Whether readers wait for changes of rows of a table. */
  isWatched(table: TableName): boolean {
    return this.#watched.has(table);
  }

  get size(): number {
    let size = 0;
    for (const group of this.#groups.values()) size += group.waiters.size;
    return size;
  }

  /**
   * Waits until the query's index is greater than `after`, or until the deadline, which gives the last answer.
   * `snapshot` is the one in which `current` was read.
   */
  park<T>(
    query: BlockingQuery<T>,
    { current, snapshot }: { readonly current: Answer<T>; readonly snapshot: Snapshot },
    { after, owner, deadline, whenCancelled, whenRightsChanged, resolve }: ParkedWait<T>,
  ): void {
    const { mark } = snapshot;
    const answered = resolve as Waiter['resolve'];
    const waiter: Waiter = { after, deadline, group: undefined, mark, whenRightsChanged, resolve: answered };
    const group = this.#join({ query, owner }, current, snapshot, waiter);
    if (group.last.index > after) {
      this.#finish(waiter, ok(group.last));
      return;
    }
    whenCancelled?.(() => {
      if (waiter.group !== undefined) this.#finish(waiter, ok(group.last));
    });
    if (this.#watching === undefined) this.#watch(snapshot.index);
    else if (this.#newest > group.ranAt && group.waiters.size === 1) {
      this.#makeDue(group);
      this.#start();
    }
    this.#setAlarm(deadline);
  }

  /** A write of this process is durable. */
  written({ from, to, changes }: OwnWrite): void {
    if (this.#watching === undefined || to <= this.#seen) return;
    this.#newest = Math.max(this.#newest, to);
    for (const change of changes) this.#watched.forEach(change, (group) => this.#makeDue(group));
    this.#start();
    if (this.#own.size >= mostOwnWrites) this.#own.clear();
    this.#own.set(from, to);
    this.#advance();
  }

  /** How often all readers were answered. A reader that began before a release must not wait after it. */
  get releases(): number {
    return this.#releases;
  }

  /** Answers every reader with its latest answer, because the engine is stopping. */
  release(): void {
    this.#releases += 1;
    for (const group of [...this.#groups.values()]) {
      for (const waiter of [...group.waiters]) this.#finish(waiter, ok(group.last));
    }
    this.#rest();
  }

  #join<T>(
    { query, owner }: { readonly query: BlockingQuery<T>; readonly owner: string },
    current: Answer<T>,
    { index, mark }: Snapshot,
    waiter: Waiter,
  ): Group {
    const key = typeof query.key === 'string' ? query.key : query.key();
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { key, owner, query, waiters: new Set(), last: current, ranAt: index, mark };
      this.#groups.set(key, group);
      this.#watched.add(query.tables, group);
    }
    group.waiters.add(waiter);
    waiter.group = group;
    if (group.ranAt < index) {
      adopt(group, current, { index, mark });
      this.#answerPassed(group);
    }
    return group;
  }

  /** Answers the readers of a group whose index has passed. */
  #answerPassed(group: Group): void {
    const outcome = ok(group.last);
    for (const waiter of [...group.waiters]) if (group.last.index > waiter.after) this.#finish(waiter, outcome);
  }

  #finish(waiter: Waiter, outcome: Outcome<unknown>): void {
    const group = waiter.group;
    if (group === undefined) return;
    waiter.group = undefined;
    group.waiters.delete(waiter);
    if (group.waiters.size === 0) this.#forget(group);
    if (group.mark !== waiter.mark) waiter.whenRightsChanged?.();
    waiter.resolve(outcome);
    if (this.#groups.size === 0) this.#rest();
  }

  #forget(group: Group): void {
    this.#groups.delete(group.key);
    this.#watched.remove(group.query.tables, group);
    const due = this.#due.get(group.owner);
    due?.delete(group);
    if (due?.size === 0) this.#due.delete(group.owner);
  }

  #rest(): void {
    this.#watching?.abort();
    this.#watching = undefined;
    this.#own.clear();
    this.#alarm?.controller.abort();
    this.#alarm = undefined;
  }

  #watch(snapshot: number): void {
    const controller = new AbortController();
    this.#watching = controller;
    this.#seen = snapshot;
    this.#newest = snapshot;
    void this.#follow(controller.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const after = this.#seen;
      const reached = await this.#storage.waitForChange(this.#tables, after, signal);
      if (signal.aborted) return;
      if (reached <= after) {
        // The store is closed: nothing changes any more.
        this.release();
        return;
      }
      // A write of this process may be durable before its commit has reported it.
      if (reached > this.#seen) await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
      if (reached > this.#seen) this.#foreignWrite(reached);
    }
  }

  /** Some writes up to this index were made by another process, so their changes are unknown. */
  #foreignWrite(reached: number): void {
    this.#seen = reached;
    this.#newest = Math.max(this.#newest, reached);
    for (const group of this.#groups.values()) this.#makeDue(group);
    this.#start();
    for (const from of this.#own.keys()) if (from <= reached) this.#own.delete(from);
    this.#advance();
  }

  /** Advances over consecutive writes of this process, up to the first write of another one. */
  #advance(): void {
    for (;;) {
      const to = this.#own.get(this.#seen + 1);
      if (to === undefined) return;
      this.#own.delete(this.#seen + 1);
      this.#seen = to;
    }
  }

  #makeDue(group: Group): void {
    const due = this.#due.get(group.owner);
    if (due === undefined) this.#due.set(group.owner, new Set([group]));
    else due.add(group);
  }

  #start(): void {
    if (!this.#isRunning && this.#due.size > 0) void this.#runDue();
  }

  /** Runs the due groups, some in each iteration of the event loop. */
  async #runDue(): Promise<void> {
    this.#isRunning = true;
    try {
      for (;;) {
        const turn = this.#nextTurn();
        if (turn.length === 0) return;
        await this.#rerun(turn);
        if (this.#due.size > 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Due groups, round robin over their owners. */
  #nextTurn(): readonly Group[] {
    const turn: Group[] = [];
    while (turn.length < mostInTurn && this.#due.size > 0) {
      for (const [owner, groups] of [...this.#due]) {
        if (turn.length >= mostInTurn) break;
        const [group] = groups;
        // Owners that were served move to the end.
        this.#due.delete(owner);
        if (group === undefined) continue;
        groups.delete(group);
        turn.push(group);
        if (groups.size > 0) this.#due.set(owner, groups);
      }
    }
    return turn;
  }

  /**
   * Runs groups whose tables have changed since their last answer in one snapshot, as many as the turn has time for, then answers their
   * readers. The others stay due.
   */
  async #rerun(groups: readonly Group[]): Promise<void> {
    // The groups change only after the read: the store may rerun this function.
    const ran = await this.#storage.read((view) => {
      const began = this.#clock.monotonic();
      const answers: { readonly group: Group; readonly answer: Answer<unknown> }[] = [];
      let at = 0;
      for (const group of groups) {
        if (at > 0 && this.#clock.monotonic() - began >= turnLength) break;
        at += 1;
        if (!changedAfter(view, group.query.tables, group.ranAt)) continue;
        answers.push({ group, answer: group.query.run(view) });
      }
      return { answers, left: groups.slice(at), index: view.index, mark: this.markOf(view) };
    });
    if (ran.isErr()) {
      for (const group of groups) {
        for (const waiter of [...group.waiters]) this.#finish(waiter, err(ran.error));
      }
      return;
    }
    const { answers, left, index, mark } = ran.value;
    for (const group of left) if (this.#groups.get(group.key) === group) this.#makeDue(group);
    const older = answers.filter(({ group }) => group.ranAt < index);
    for (const { group, answer } of older) adopt(group, answer, { index, mark });
    await this.#answer(older.map(({ group }) => group));
  }

  async #answer(groups: readonly Group[]): Promise<void> {
    const slices = new Slices(this.#clock);
    for (const group of groups) {
      const answer = group.last;
      const outcome = ok(answer);
      for (const waiter of [...group.waiters]) {
        if (answer.index <= waiter.after) continue;
        this.#finish(waiter, outcome);
        if (slices.isFull()) await slices.next();
      }
    }
  }

  #setAlarm(deadline: Milliseconds): void {
    if (deadline === Number.POSITIVE_INFINITY) return;
    if (this.#groups.size === 0 || (this.#alarm !== undefined && this.#alarm.at <= deadline)) return;
    this.#alarm?.controller.abort();
    const controller = new AbortController();
    this.#alarm = { at: deadline, controller };
    void this.#clock.sleep(deadline - this.#clock.monotonic(), controller.signal).then(() => {
      if (!controller.signal.aborted) this.#expire();
    });
  }

  #expire(): void {
    this.#alarm = undefined;
    const now = this.#clock.monotonic();
    let next: Milliseconds | undefined;
    for (const group of [...this.#groups.values()]) {
      for (const waiter of [...group.waiters]) {
        if (waiter.deadline <= now) this.#finish(waiter, ok(group.last));
        else if (next === undefined || waiter.deadline < next) next = waiter.deadline;
      }
    }
    if (next !== undefined) this.#setAlarm(next);
  }
}

/** Updates the group with the result of a newer snapshot. */
function adopt(group: Group, answer: Answer<unknown>, { index, mark }: Snapshot): void {
  if (answer.index !== group.last.index) group.last = answer;
  group.ranAt = index;
  group.mark = mark;
}

/** How long the readers of one slice may block the event loop, in milliseconds. */
const target: Milliseconds = 2;
const first = 32;
const smallest = 8;
const largest = 96;

/**
 * Divides the answers of many readers into slices, one for each turn of the event loop. The cost of an answer is known only after its
 * turn, because most of it runs in promises: slices shrink when a turn took longer than `target`, and grow when shorter.
 */
export class Slices {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #size = first;
  #answered = 0;
  #began: Milliseconds;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  /** Counts one more reader. */
  isFull(): boolean {
    this.#answered += 1;
    return this.#answered >= this.#size;
  }

  /** Resolves in the next iteration of the event loop. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const now = this.#clock.monotonic();
    const took = now - this.#began;
    // With a clock that stands still, as in tests, the cost is unknown.
    if (took > 0) this.#size = within(Math.round((this.#answered * target) / took));
    this.#answered = 0;
    this.#began = now;
  }
}

function within(size: number): number {
  return Math.min(largest, Math.max(smallest, size));
}
