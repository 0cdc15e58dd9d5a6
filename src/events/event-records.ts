import { table } from '../shared/table.js';
import type { Notice, Topic } from './changes.js';

/** The notices of one transaction. The records remain in their tables until they are overwritten. */
export interface NoticeBatch {
  readonly Index: number;
  readonly Notices: readonly Notice[];
}

/** A record as the transaction `Index` left it, saved when a later one overwrites or removes it. */
interface EarlierRecord {
  readonly Index: number;
  readonly Topic: Topic;
  readonly Namespace: string;
  readonly Key: string;
  readonly Record: unknown;
}

/** By index; later transactions remove those that are too old. */
export const noticeBatches = table<NoticeBatch>('notice_batches', ({ Index }) => [Index]);

export const earlierRecords = table<EarlierRecord>('earlier_records', ({ Index, Topic, Namespace, Key }) => [
  Index,
  Topic,
  Namespace,
  Key,
]);
