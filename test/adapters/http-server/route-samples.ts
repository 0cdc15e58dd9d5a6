import type { Route } from '../../../adapters/http-server/route.js';

/** Requests that every route answers well on a `filledEngine`. */

export const sampleJob = (id: string, further: Readonly<Record<string, unknown>> = {}) => ({
  ID: id,
  Name: id,
  Type: 'batch',
  Datacenters: ['*'],
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }],
  ...further,
});

const configuration = {
  type: 'notification-configurations',
  attributes: { 'destination-type': 'generic', name: 'hook', url: 'https://hooks.example.net/x', enabled: true },
};

const bodies: Readonly<Record<string, unknown>> = {
  registerJob: { Job: sampleJob('new') },
  updateJob: { Job: sampleJob('job') },
  dispatchJob: { Payload: 'aGVsbG8=', Meta: { colour: 'red' } },
  revertJob: { JobID: 'job', JobVersion: 0 },
  setJobStability: { JobID: 'job', JobVersion: 1, Stable: true },
  evaluateJob: { JobID: 'job', EvalOptions: { ForceReschedule: true } },
  scaleJob: { Count: 2, Target: { Group: 'g' }, Message: 'more' },
  tagJobVersion: { Version: 0, Description: 'kept' },
  parseJob: { JobHCL: 'job "x" {\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n    }\n  }\n}\n' },
  validateJob: { Job: sampleJob('x') },
  putNamespace: { Name: 'made', Description: 'made' },
  putNamedNamespace: { Name: 'spare', Description: 'spare' },
  createNotificationConfiguration: { data: configuration },
  updateNotificationConfiguration: { data: { ...configuration, attributes: { name: 'renamed' } } },
  sendNotificationEvent: {
    data: { type: 'notification-events', attributes: { trigger: 'run:errored', run_id: 'run-1' } },
  },
  recoverNotificationDeliveries: {
    data: { type: 'notification-recoveries', attributes: { since: '2020-01-01T00:00:00Z' } },
  },
};

/** A body that the route takes; undefined where it takes none. */
export function bodyFor(route: Route): unknown {
  return bodies[route.operation];
}

/** What `filledEngine` has made, by the name of the path parameter. */
export const places: Record<string, string> = {};

const jobOf: Readonly<Record<string, string>> = { dispatchJob: 'template', dispatchJobPayload: 'raw-template' };

/** A target that exists on a `filledEngine`. */
export function targetFor(route: Route): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === 'job_id') return jobOf[route.operation] ?? 'job';
    if (name === 'name' && route.path.endsWith('/tag')) return route.operation === 'tagJobVersion' ? 'kept' : 'tagged';
    if (name === 'name') return route.operation === 'readNamespace' ? 'default' : 'spare';
    return encodeURIComponent(places[name] ?? 'unknown');
  });
  return route.operation === 'readJobSubmission' ? path + '?version=0' : path;
}
