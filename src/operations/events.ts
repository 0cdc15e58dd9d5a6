import { EventEmitter } from 'eventemitter3';

/**
 * Facts, emitted after the write that made them true has committed. Nothing in the engine depends on a listener; a
 * listener that throws is reported to the logger and changes nothing.
 */
export interface EngineEvents {
  'job.registered': (fact: { namespace: string; jobId: string; version: number; index: number }) => void;
  'job.stopped': (fact: { namespace: string; jobId: string; purged: boolean; index: number }) => void;
  'job.dispatched': (fact: { namespace: string; parentId: string; jobId: string; index: number }) => void;
  'job.status': (fact: { namespace: string; jobId: string; status: string; index: number }) => void;
  'evaluation.finished': (fact: { namespace: string; evaluationId: string; jobId: string; status: string }) => void;
  'allocation.changed': (fact: {
    namespace: string;
    allocationId: string;
    jobId: string;
    clientStatus: string;
  }) => void;
  'node.changed': (fact: { nodeId: string; status: string }) => void;
  'notification.event': (fact: {
    eventId: string;
    workspaceId: string;
    trigger: string;
    deliveryIds: readonly string[];
  }) => void;
  'notification.attempt': (fact: {
    deliveryId: string;
    configurationId: string;
    attempt: number;
    outcome: 'delivered' | 'retrying' | 'dead';
    errorClass: string | null;
  }) => void;
  'notification.configuration': (fact: {
    configurationId: string;
    workspaceId: string;
    change: 'created' | 'updated' | 'deleted' | 'verified' | 'auto_disabled';
  }) => void;
  'loop.failed': (fact: { loop: string; message: string }) => void;
}

export type EngineEmitter = EventEmitter<EngineEvents>;

export function createEmitter(): EngineEmitter {
  return new EventEmitter<EngineEvents>();
}
