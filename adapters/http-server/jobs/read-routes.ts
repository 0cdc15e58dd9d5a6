import {
  listAllocations,
  listEvaluationAllocations,
  listEvaluations,
  listJobAllocations,
  listJobEvaluations,
  listJobs,
  listJobVersions,
  readAllocation,
  readEvaluation,
  readJob,
  readJobScaleStatus,
  readJobSubmission,
  readJobSummary,
} from '../../../src/index.js';
import { booleanParameter, requiredParameter, textParameter, unsignedParameter } from '../query.js';
import type { Route } from '../route.js';
import { allParameter, diffsParameter, pageFrom, pageParameters } from './job-parameters.js';
import { textOfRow, textOfRows } from './job-responses.js';
import { needs, readRoute } from './job-route.js';
import { allocationSchema, evaluationSchema, jobSchema, jobStubSchema, listOf } from './job-schemas.js';

/** The reads of jobs, evaluations and allocations. All of them can wait. */
export const readRoutes: readonly Route[] = [
  readRoute({
    path: '/v1/jobs',
    operation: 'listJobs',
    summary: 'The jobs of a namespace, or of all (`*`), by namespace and ID',
    access: needs('list-jobs'),
    parameters: { ...pageParameters, meta: booleanParameter('Add the meta of each job') },
    schema: () => listOf(jobStubSchema),
    run: ({ engine, caller }, { values, namespace, waiting }) =>
      listJobs(engine, caller, { namespace, waiting, ...pageFrom(values), meta: values.meta ?? false }),
    print: (page) => JSON.stringify(page.items),
    nextToken: (page) => page.nextToken,
  }),
  readRoute({
    path: '/v1/job/{job_id}',
    operation: 'readJob',
    summary: 'A job with its status',
    access: needs('read-job'),
    parameters: {},
    schema: jobSchema,
    run: ({ engine, caller }, { id, namespace, waiting }) => readJob(engine, caller, { jobId: id, namespace, waiting }),
    print: (row) => row?.text,
    absent: 'job not found',
  }),
  readRoute({
    path: '/v1/job/{job_id}/submission',
    operation: 'readJobSubmission',
    summary: 'The source of one version of a job',
    access: needs('read-job'),
    parameters: {
      version: requiredParameter(unsignedParameter('Version of the job', 'cannot parse version parameter')),
    },
    schema: () => ({ type: 'object' }),
    run: ({ engine, caller }, { id, namespace, waiting, values }) =>
      readJobSubmission(engine, caller, { jobId: id, version: values.version ?? 0, namespace, waiting }),
    print: (row) => row?.text,
    absent: 'job source not found',
  }),
  readRoute({
    path: '/v1/job/{job_id}/versions',
    operation: 'listJobVersions',
    summary: 'The kept versions of a job, newest first',
    access: needs('read-job'),
    anyMethod: true,
    parameters: { diffs: diffsParameter },
    schema: () => ({ type: 'object', properties: { Versions: listOf(jobSchema) } }),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      listJobVersions(engine, caller, { jobId: id, namespace, waiting }),
    print: (rows, _input, index) =>
      rows.length === 0
        ? undefined
        : `{"Versions":${textOfRows(rows)},"Diffs":null,"Index":${index},"LastContact":0,"KnownLeader":true,"NextToken":""}`,
    absent: 'job versions not found',
  }),
  readRoute({
    path: '/v1/job/{job_id}/allocations',
    operation: 'listJobAllocations',
    summary: 'The allocations of a job',
    access: needs('read-job'),
    parameters: { all: allParameter },
    schema: () => listOf(allocationSchema),
    run: ({ engine, caller }, { id, namespace, waiting, values }) =>
      listJobAllocations(engine, caller, { jobId: id, namespace, waiting, all: values.all ?? false }),
    print: (stubs) => JSON.stringify(stubs),
  }),
  readRoute({
    path: '/v1/job/{job_id}/evaluations',
    operation: 'listJobEvaluations',
    summary: 'The evaluations of a job',
    access: needs('read-job'),
    parameters: {},
    schema: () => listOf(evaluationSchema),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      listJobEvaluations(engine, caller, { jobId: id, namespace, waiting }),
    print: textOfRows,
  }),
  readRoute({
    path: '/v1/job/{job_id}/summary',
    operation: 'readJobSummary',
    summary: 'Counters of the allocations and instances of a job',
    access: needs('read-job'),
    anyMethod: true,
    parameters: {},
    schema: () => ({ type: 'object' }),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      readJobSummary(engine, caller, { jobId: id, namespace, waiting }),
    print: (row) => row?.text,
    absent: 'job not found',
  }),
  readRoute({
    path: '/v1/job/{job_id}/scale',
    operation: 'readJobScaleStatus',
    summary: 'Counts and scaling events of each group',
    access: needs('read-job', 'read-job-scaling'),
    parameters: {},
    schema: () => ({ type: 'object' }),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      readJobScaleStatus(engine, caller, { jobId: id, namespace, waiting }),
    print: (status) => status && JSON.stringify(status),
    absent: 'job not found',
  }),
  readRoute({
    path: '/v1/evaluations',
    operation: 'listEvaluations',
    summary: 'The evaluations of a namespace, or of all (`*`)',
    access: needs('read-job'),
    parameters: {
      ...pageParameters,
      status: textParameter('Only those with this status'),
      job: textParameter('Only those of this job'),
    },
    schema: () => listOf(evaluationSchema),
    run: ({ engine, caller }, { values, namespace, waiting }) =>
      listEvaluations(engine, caller, {
        namespace,
        waiting,
        ...pageFrom(values),
        status: values.status ?? '',
        job: values.job ?? '',
      }),
    print: (page) => textOfRows(page.items),
    nextToken: (page) => page.nextToken,
  }),
  readRoute({
    path: '/v1/evaluation/{evaluation_id}',
    operation: 'readEvaluation',
    summary: 'One evaluation',
    access: needs('read-job'),
    parameters: {},
    schema: evaluationSchema,
    run: ({ engine, caller }, { id, namespace, waiting }) => readEvaluation(engine, caller, { id, namespace, waiting }),
    print: (row) => (row === undefined ? undefined : textOfRow(row)),
    absent: 'eval not found',
  }),
  readRoute({
    path: '/v1/evaluation/{evaluation_id}/allocations',
    operation: 'listEvaluationAllocations',
    summary: 'The allocations that an evaluation made',
    access: needs('read-job'),
    parameters: {},
    schema: () => listOf(allocationSchema),
    run: ({ engine, caller }, { id, namespace, waiting }) =>
      listEvaluationAllocations(engine, caller, { id, namespace, waiting }),
    print: (stubs) => JSON.stringify(stubs),
  }),
  readRoute({
    path: '/v1/allocations',
    operation: 'listAllocations',
    summary: 'The allocations of a namespace, or of all (`*`)',
    access: needs('read-job'),
    parameters: {
      ...pageParameters,
      resources: booleanParameter('Add the allocated resources'),
      task_states: booleanParameter('Give the states of the tasks; true when absent'),
    },
    schema: () => listOf(allocationSchema),
    run: ({ engine, caller }, { values, namespace, waiting }) =>
      listAllocations(engine, caller, {
        namespace,
        waiting,
        ...pageFrom(values),
        resources: values.resources ?? false,
        taskStates: values.task_states ?? true,
      }),
    print: (page) => JSON.stringify(page.items),
    nextToken: (page) => page.nextToken,
  }),
  readRoute({
    path: '/v1/allocation/{allocation_id}',
    operation: 'readAllocation',
    summary: 'One allocation with the job that it runs',
    access: needs('read-job'),
    parameters: {},
    schema: allocationSchema,
    run: ({ engine, caller }, { id, namespace, waiting }) => readAllocation(engine, caller, { id, namespace, waiting }),
    print: (found) => found && withMember(found.allocation.text, 'Job', found.job?.text),
    absent: 'alloc not found',
  }),
];

/** The text of a JSON object with one more member. */
function withMember(object: string, name: string, value: string | undefined): string {
  if (value === undefined) return object;
  const rest = object.slice(1);
  return `{"${name}":${value}${rest === '}' ? '' : ','}${rest}`;
}
