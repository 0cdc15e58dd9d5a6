import type { JobStatusEntry } from '../../../jobs/status/job-status-entry.js';
import type { JobListStub } from '../../../jobs/status/job-stub.js';
import { inNamespace, inNamespaceOf } from '../../access.js';
import { type AnswerForm, type Indexed, type PageOf, page, rowPage } from '../../answers.js';
import { read } from '../../call.js';
import { filterFaults, pageInputs } from '../../common-inputs.js';
import { eitherOf, inBody, inMembers, inPath, inQuery, judgedByOperation } from '../../inputs.js';
import { jsonBoolean, jsonList, jsonObject, jsonText, type MembersOf, member } from '../../json-codecs.js';
import { boolean, strictBoolean, text } from '../../text-codecs.js';

/** The index of an empty result is 0. */
const statuses: AnswerForm<Indexed<PageOf<JobStatusEntry>>, Indexed<PageOf<JobStatusEntry>>> = {
  ...page<JobStatusEntry>('JobStatusEntry'),
  indexOf: ({ index, value }) => (value.items.length === 0 ? 0 : index),
};

const { prefix: _, ...statusInputs } = pageInputs;
const includeChildren = inQuery(
  'include_children',
  strictBoolean,
  'Include instances of periodic and parameterized jobs',
);

/** The jobs in the body; a body without jobs is refused. */
const namedJobs = {
  jobs: member('Jobs', jsonList(jsonObject({ id: member('ID', jsonText), namespace: member('Namespace', jsonText) }))),
};
type NamedJobs = NonNullable<MembersOf<typeof namedJobs>['jobs']>;
const jobsNamed = {
  read: ({ jobs = [] }: MembersOf<typeof namedJobs>): NamedJobs => jobs,
  print: (jobs: NamedJobs) => ({ jobs }),
};

/** The jobs of node pools. */
export const poolJobCalls = {
  /** The jobs of a node pool, in a namespace or in all (`*`). */
  jobs: read({
    path: '/v1/node/pool/{name}/jobs',
    access: inNamespace('list-jobs'),
    summary: 'The jobs of a node pool, in a namespace or in all (`*`)',
    args: ['pool'],
    inputs: {
      pool: inPath('name', text),
      ...pageInputs,
      meta: inQuery('meta', boolean, 'Add the meta of each job'),
    },
    errors: [...filterFaults, 'node_pool_not_found'],
    answer: rowPage<JobListStub>('JobListStub'),
  }),
} as const;

/** Lists of jobs. */
export const jobListCalls = {
  /** The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them. */
  list: read({
    path: '/v1/jobs',
    access: inNamespace('list-jobs'),
    summary: 'The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them',
    inputs: { ...pageInputs, meta: inQuery('meta', boolean, 'Add the meta of each job') },
    errors: filterFaults,
    answer: rowPage<JobListStub>('JobListStub'),
  }),

  /** The current status of jobs, last changed first. */
  statuses: read({
    path: '/v1/jobs/statuses',
    access: inNamespace('read-job'),
    summary: 'The current status of jobs, last changed first',
    inputs: { ...statusInputs, includeChildren },
    errors: filterFaults,
    answer: statuses,
  }),

  /** The same for the given jobs, or without a body for all of a namespace. */
  statusesOf: read({
    methods: ['POST'],
    path: '/v1/jobs/statuses',
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The current status of the given jobs, or without a body of all jobs of a namespace',
    args: ['jobs'],
    inputs: {
      jobs: judgedByOperation(inMembers<NamedJobs, typeof namedJobs>(namedJobs, jobsNamed)),
      ...statusInputs,
      includeChildren: eitherOf(inBody('IncludeChildren', jsonBoolean), includeChildren),
    },
    optionalBody: true,
    errors: [...filterFaults, 'invalid_request'],
    answer: statuses,
  }),
} as const;
