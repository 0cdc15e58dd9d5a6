import { roles, type StoredRole } from '../../access/policy-record.js';
import { type StoredToken, type TokenDocument, tokenDocument } from '../../access/tokens.js';
import {
  type Cause,
  type ClusterEvent,
  earlierRecords,
  eventFrom,
  isToldWhenRemoved,
  type Notice,
  type NoticeBatch,
  noticeBatches,
  noticesOfChanges,
  type StateChange,
  type Topic,
} from '../../events/changes.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Allocation } from '../../scheduler/allocation.js';
import { allocationDocument } from '../../scheduler/allocation-views.js';
import type { Node } from '../../scheduler/node.js';
import { type NodePool, nodePoolDocument } from '../../scheduler/node-pool.js';
import type { Key, Table, TableName } from '../../shared/table.js';
import { tables } from '../../tables.js';
import type { StoredChange } from './reaction.js';

/** The tables whose changes appear in the event stream, by topic; and the topics, by table. */
const tableOf = new Map<Topic, Table<unknown>>();
const topicOf = new Map<string, Topic>();
for (const { topic, table } of tables) {
  if (topic === undefined) continue;
  tableOf.set(topic, table);
  topicOf.set(table.name, topic);
}

export const noticeTables: readonly TableName[] = [...tableOf.values()];

/** The number of transactions between two removals of old notices. */
const lookEvery = 32;

/** The most rows of each table removed in one transaction. */
const removedAtOnce = 256;

/**
 * Writes the notices of a transaction in the same transaction, so that changes and events are stored together and every process
 * over the store can stream them. `cause`: the subject of the transaction, if its changes do not show it. A notice contains no record;
 * overwritten records are kept in another table. Notices older than the last `kept` transactions are removed.
 */
export function writeNotices(
  view: WriteView,
  changes: Iterable<StoredChange>,
  kept: number,
  cause: Cause | undefined,
): void {
  if (kept <= 0) return;
  const real: StoredChange[] = [];
  for (const change of changes) if (topicOf.has(change.table) && !change.isVoid) real.push(change);
  if (real.length === 0) return;
  const last = view.tableIndex(noticeBatches);
  const batches = batchesOf(real, cause);
  const from = keptFrom(batches.at(-1)?.Index ?? last, kept);
  for (const change of real) keepEarlier(view, change, from);
  for (const batch of batches) view.put(noticeBatches, batch);
  if (batches.length > 0 && Math.floor(last / lookEvery) !== Math.floor(view.index / lookEvery)) removeOld(view, from);
}

function removeOld(view: WriteView, from: number): void {
  removeOldOf(view, noticeBatches, from);
  removeOldOf(view, earlierRecords, from);
}

function removeOldOf<R>(view: WriteView, table: Table<R>, from: number): void {
  for (const { record } of view.list(table, { to: [from], limit: removedAtOnce }))
    view.remove(table, table.key(record));
}

/** Index of the oldest transaction whose events streams still send, when the newest notices are those of `last`. */
export function keptFrom(last: number, kept: number): number {
  return last - kept;
}

/** One for each index of the transaction, by index. */
function batchesOf(changes: readonly StoredChange[], cause: Cause | undefined): readonly NoticeBatch[] {
  const byIndex = new Map<number, StateChange[]>();
  for (const { table, before, after, index } of changes) {
    const state = { topic: topicOf.get(table), before, after } as StateChange;
    const states = byIndex.get(index);
    if (states === undefined) byIndex.set(index, [state]);
    else states.push(state);
  }
  const batches: NoticeBatch[] = [];
  for (const Index of [...byIndex.keys()].sort((left, right) => left - right)) {
    const Notices = noticesOfChanges(byIndex.get(Index) ?? [], Index, cause);
    if (Notices.length > 0) batches.push({ Index, Notices });
  }
  return batches;
}

/**
 * Keeps the version that the transaction overwrites, because earlier notices may need it, or the one it removes, because its own
 * notice needs it.
 */
function keepEarlier(view: WriteView, { table, key, stored, after, index }: StoredChange, from: number): void {
  const topic = topicOf.get(table);
  if (stored === undefined || topic === undefined) return;
  const Namespace = key.length === 1 ? '' : String(key[0]);
  const earlier = { Topic: topic, Namespace, Key: String(key.at(-1)), Record: stored.record };
  if (stored.modifyIndex >= from) view.put(earlierRecords, { ...earlier, Index: stored.modifyIndex });
  if (after === undefined && isToldWhenRemoved(topic)) view.put(earlierRecords, { ...earlier, Index: index });
}

/** The event of a notice, with the record as of its transaction; undefined if that is no longer kept (the setting was lower then). */
export function eventOfNotice(view: ReadView, notice: Notice, index: number): ClusterEvent | undefined {
  const key = keyOf(notice);
  const row = view.get(tableOf.get(notice.Topic) as Table<unknown>, key);
  if (row?.modifyIndex === index) return eventFrom(notice, index, shownRecord(view, notice.Topic, row));
  const namespace = key.length === 1 ? '' : notice.Namespace;
  const earlier = view.get(earlierRecords, [index, notice.Topic, namespace, notice.Key])?.record.Record;
  if (earlier === undefined) return undefined;
  return eventFrom(notice, index, shownRecord(view, notice.Topic, { record: earlier, modifyIndex: index }));
}

/** The key of a notice's record. The name of a service is the second of its filter keys. */
function keyOf({ Topic: topic, Namespace, Key: key, FilterKeys }: Notice): Key {
  if (topic === 'Job') return [Namespace, key];
  return topic === 'Service' ? [Namespace, FilterKeys?.[1] ?? '', key] : [key];
}

interface Kept {
  readonly record: unknown;
  readonly modifyIndex: number;
}

/** A record without its secrets, as in reads. */
function shownRecord(view: ReadView, topic: Topic, { record, modifyIndex }: Kept): unknown {
  switch (topic) {
    case 'Allocation':
      return allocationDocument(record as Allocation);
    case 'Node':
      return { ...(record as Node), SecretID: '' };
    case 'NodePool':
      return nodePoolDocument(record as NodePool);
    case 'ACLToken':
      return shownToken(view, record as StoredToken, modifyIndex);
    case 'Job':
    case 'Evaluation':
    case 'Deployment':
    case 'Service':
    case 'ACLPolicy':
    case 'ACLRole':
      return record;
  }
}

function shownToken(view: ReadView, token: StoredToken, modifyIndex: number): TokenDocument {
  const roleById = (id: string): StoredRole | undefined => view.get(roles, [id])?.record;
  return tokenDocument(token, '', { createIndex: token.madeAt ?? 0, modifyIndex, roleById });
}
