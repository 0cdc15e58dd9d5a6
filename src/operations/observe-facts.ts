import { functionLabels } from '../metrics/function-labels.js';
import type { EngineContext } from './context/engine-context.js';

/** Counts the facts that the engine emits, also before it is started and after it was stopped, because calls emit facts, too. */
export function observeFacts({ events, observer }: Pick<EngineContext, 'events' | 'observer'>): void {
  const start = (reason: string) => (): void => observer.count('signalbox.job.starts', 1, { reason });
  events.on('job.registered', start('registered'));
  events.on('job.dispatched', start('dispatched'));
  events.on('job.launched', start('launched'));
  events.on('evaluation.finished', ({ status }) => observer.count('signalbox.evaluations', 1, { status }));
  events.on('allocation.changed', ({ clientStatus }) => {
    observer.count('signalbox.allocations', 1, { client_status: clientStatus });
  });
  events.on('deployment.status', ({ status }) => observer.count('signalbox.deployments', 1, { status }));
  events.on('notification.event', () => observer.count('signalbox.notification.events', 1, {}));
  events.on('notification.delivery', ({ outcome }) => {
    observer.count('signalbox.notification.deliveries', 1, { outcome });
  });
  const label = functionLabels();
  events.on('function.ended', ({ function: name, outcome }) => {
    observer.count('signalbox.function.runs', 1, { function: label(name), outcome });
  });
  events.on('function.started', ({ function: name, waited }) => {
    observer.record('signalbox.function.attempt.lag', waited / 1000, { function: label(name) });
  });
  events.on('loop.failed', ({ loop }) => observer.count('signalbox.loop.failures', 1, { loop }));
}
