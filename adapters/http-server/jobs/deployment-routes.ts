import { listDeployments, listJobDeployments, readLatestDeployment } from '../../../src/index.js';
import { anyObject, orNull } from '../json-schema.js';
import type { Route } from '../route.js';
import { allParameter } from './job-parameters.js';
import { needs, readRoute } from './job-route.js';
import { listOf } from './job-schemas.js';

/** The reads of deployments. */
export const deploymentRoutes: readonly Route[] = [
  readRoute({
    path: '/v1/job/{job_id}/deployments',
    operation: 'listJobDeployments',
    summary: 'The deployments of a job',
    access: needs('read-job'),
    parameters: { all: allParameter },
    schema: () => listOf(() => anyObject),
    run: ({ engine, caller }, { id, namespace, waiting, values }) =>
      listJobDeployments(engine, caller, { jobId: id, namespace, waiting, all: values.all ?? false }),
    print: (deployments) => JSON.stringify(deployments),
  }),
  readRoute({
    path: '/v1/job/{job_id}/deployment',
    operation: 'readLatestDeployment',
    summary: 'The newest deployment of a job; null when there is none',
    access: needs('read-job'),
    parameters: {},
    schema: () => orNull(anyObject),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      readLatestDeployment(engine, caller, { jobId: id, namespace, waiting }),
    print: (deployment) => JSON.stringify(deployment),
  }),
  readRoute({
    path: '/v1/deployments',
    operation: 'listDeployments',
    summary: 'The deployments of a namespace, or of all (`*`)',
    access: needs('read-job'),
    parameters: {},
    schema: () => listOf(() => anyObject),
    run: ({ engine, caller }, { namespace, waiting }) => listDeployments(engine, caller, { namespace, waiting }),
    print: (deployments) => JSON.stringify(deployments),
  }),
];
