import type { Topic } from './state-change.js';

/** That something changed, without what it became. */
export interface Notice {
  readonly Topic: Topic;
  /** What brought the change about: `JobRegistered` for the evaluation of a registration too. */
  readonly Type: string;
  /** ID of what changed. */
  readonly Key: string;
  /** Empty where there is none. */
  readonly Namespace: string;
  /** Other IDs under which it can be selected. */
  readonly FilterKeys: readonly string[] | null;
  /** The record was removed. */
  readonly Deleted?: true;
}

/** A change of the cluster as the event stream reports it (job interface, event stream). */
export interface ClusterEvent extends Omit<Notice, 'Deleted'> {
  readonly Index: number;
  /** The record after the change, under its topic's name; before it, where it was removed. */
  readonly Payload: Readonly<Record<string, unknown>>;
}

/** The events of one transaction, which a stream reports together. */
export interface EventBatch {
  readonly Index: number;
  readonly Events: readonly ClusterEvent[];
}

/** The event that a notice reports a record, which is given as readers see it. */
export function eventFrom({ Deleted, ...notice }: Notice, Index: number, shown: unknown): ClusterEvent {
  return { ...notice, Index, Payload: { [notice.Topic]: shown, ...(Deleted === undefined ? {} : { Deleted }) } };
}
