import type { Tracer } from '../ports/tracer.js';
import type { EngineContext } from './context/engine-context.js';

/** Creates spans from emitted facts: for evaluations and runs, whose begin and end are in different writes. */
export function traceFacts(
  { events, traces, clock }: Pick<EngineContext, 'events' | 'traces' | 'clock'>,
  tracer: Tracer,
): void {
  events.on('evaluation.finished', ({ namespace, evaluationId, jobId, status }) => {
    const cause = traces.take(evaluationId);
    if (cause === undefined) return;
    const attributes = {
      'signalbox.namespace': namespace,
      'signalbox.job': jobId,
      'signalbox.evaluation': evaluationId,
    };
    const span = tracer.begin({
      name: 'evaluation',
      kind: 'internal',
      parent: cause.traceparent,
      at: cause.at,
      attributes,
    });
    span.end({ at: clock.now(), attributes: { 'signalbox.status': status }, ...failedAs(status, 'failed') });
  });
  events.on('run.ended', ({ namespace, jobId, runId, workspaceId, status, createdAt, endedAt, traceparent }) => {
    const attributes = {
      'signalbox.namespace': namespace,
      'signalbox.job': jobId,
      'signalbox.run': runId,
      'signalbox.workspace': workspaceId,
    };
    const parent = traceparent ?? undefined;
    const span = tracer.begin({ name: 'run', kind: 'internal', parent, at: createdAt, attributes });
    span.end({ at: endedAt, attributes: { 'signalbox.status': status }, ...failedAs(status, 'errored') });
  });
}

function failedAs(status: string, failure: string): { readonly failure?: string } {
  return status === failure ? { failure: status } : {};
}
