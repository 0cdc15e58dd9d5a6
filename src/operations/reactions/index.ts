import type { ReadView, Row, TableName, WriteView } from '../../ports/storage.js';
import type { Key, Table } from '../../shared/table.js';
import type { Transaction } from '../write-transaction.js';
import { blockedRequirementsReaction, needlessEvaluationsReaction } from './evaluations.js';
import { jobProgressReaction, jobStubsReaction, launchesReaction, parentsReaction } from './jobs.js';
import { nodeRowsReaction } from './node-rows.js';
import { noticeTables, writeNotices } from './notices.js';
import { quotasReaction } from './quotas.js';
import type { Changes, Reaction, RowChange, StoredChange } from './reaction.js';
import { runHistoryReaction, runsReaction } from './runs.js';
import { endedServicesReaction, servicesReaction } from './services.js';

/** In this order: each sees the changes of those before it. */
const reactions: readonly Reaction[] = [
  nodeRowsReaction,
  endedServicesReaction,
  needlessEvaluationsReaction,
  blockedRequirementsReaction,
  jobProgressReaction,
  parentsReaction,
  launchesReaction,
  runHistoryReaction,
  jobStubsReaction,
  quotasReaction,
  runsReaction,
  // Services of tasks have a later index, which all later changes would have too.
  servicesReaction,
];

const watched = new Set([...noticeTables, ...reactions.flatMap(({ tables }) => tables)].map(({ name }) => name));

class Change implements StoredChange {
  after: unknown;
  index = 0;

  constructor(
    readonly table: string,
    readonly key: Key,
    readonly stored: Row<unknown> | undefined,
  ) {}

  /** Parsed when it is asked for. */
  get before(): unknown {
    return this.stored?.record;
  }

  get row(): unknown {
    return this.after ?? this.before;
  }

  get isVoid(): boolean {
    return this.stored === undefined && this.after === undefined;
  }
}

interface ChangedRows {
  readonly byKey: Map<string, Change>;
  /** In the order of their first change. */
  readonly list: Change[];
}

const none: readonly Change[] = [];

/** The changes of one write, while it is made. */
export class ChangeSet implements Changes {
  readonly #indexes = new Map<string, number>();
  /** Since the last reactions, by table. */
  #recent = new Map<string, ChangedRows>();
  /** All of the write: a row again when it is changed after reactions. */
  readonly #all: Change[] = [];
  #reacted = 0;

  /** Call it before the change. */
  note<R>(
    view: WriteView,
    { table, key }: { readonly table: Table<R>; readonly key: Key },
    after: R | undefined,
  ): void {
    const { name } = table;
    if (!watched.has(name)) return;
    if (!this.#indexes.has(name)) this.#indexes.set(name, view.tableIndex(table));
    let rows = this.#recent.get(name);
    if (rows === undefined) {
      rows = { byKey: new Map(), list: [] };
      this.#recent.set(name, rows);
    }
    const id = key.join('\u0000');
    let change = rows.byKey.get(id);
    if (change === undefined) {
      change = new Change(name, key, view.get(table, key));
      rows.byKey.set(id, change);
      rows.list.push(change);
      this.#all.push(change);
    }
    change.after = after;
    change.index = view.index;
  }

  of<R>(table: Table<R>): readonly RowChange<R>[] {
    const changed = this.#recent.get(table.name)?.list ?? none;
    return changed.filter((change) => !change.isVoid) as unknown as readonly RowChange<R>[];
  }

  latest<R>(view: ReadView, table: Table<R>, key: Key): R | undefined {
    const known = this.#recent.get(table.name)?.byKey.get(key.join('\u0000'));
    return known === undefined ? view.get(table, key)?.record : (known.after as R | undefined);
  }

  indexBefore(table: TableName): number | undefined {
    return this.#indexes.get(table.name);
  }

  /** Runs the reactions to the changes since the last call, each of which sees the changes of those before it. */
  react(tx: Transaction): void {
    if (this.#recent.size === 0) return;
    for (const { tables, react } of reactions) if (this.#changed(tables)) react(tx, this);
    this.#recent = new Map();
    this.#reacted += 1;
  }

  #changed(tables: readonly TableName[]): boolean {
    for (const { name } of tables) if (this.#recent.has(name)) return true;
    return false;
  }

  /** The last reaction: the events of the write. */
  notice(tx: Transaction): void {
    writeNotices(tx, this.#whole(), tx.settings.events.kept, tx.cause);
  }

  /** The changes of the whole write: each row once, in the order of their first change. */
  #whole(): Iterable<StoredChange> {
    if (this.#reacted < 2) return this.#all;
    const merged = new Map<string, Change>();
    for (const change of this.#all) {
      const { table, key, after, index } = change;
      const id = `${table} ${key.join('\u0000')}`;
      const first = merged.get(id)?.stored;
      const whole = merged.has(id) ? new Change(table, key, first) : change;
      merged.set(id, Object.assign(whole, { after, index }));
    }
    return merged.values();
  }
}
