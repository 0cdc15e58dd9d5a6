import type { Topic } from './state-change.js';

/** A notice of a change, without the new state. */
export interface Notice {
  readonly Topic: Topic;
  /** The cause of the change: also for the evaluation of a registration it is `JobRegistered`. */
  readonly Type: string;
  /** ID of the changed record. */
  readonly Key: string;
  /** Empty for topics without namespaces. */
  readonly Namespace: string;
  /** Other IDs by which it can be selected. */
  readonly FilterKeys: readonly string[] | null;
  /** Whether the record was removed. */
  readonly Deleted?: true;
}

/** A change of the cluster as the event stream reports it (job interface, event stream). */
export interface ClusterEvent extends Omit<Notice, 'Deleted'> {
  readonly Index: number;
  /** The record after the change, under its topic's name; for a removal, the record before. */
  readonly Payload: Readonly<Record<string, unknown>>;
}

/** The events of one transaction, which a stream sends together. */
export interface EventBatch {
  readonly Index: number;
  readonly Events: readonly ClusterEvent[];
}

/** Builds the event of a notice; the record is given as readers see it. */
export function eventFrom({ Deleted, ...notice }: Notice, Index: number, shown: unknown): ClusterEvent {
  return { ...notice, Index, Payload: { [notice.Topic]: shown, ...(Deleted === undefined ? {} : { Deleted }) } };
}
