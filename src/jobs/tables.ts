import type { TableName } from '../shared/table.js';
import { jobs, jobVersions } from './job-record.js';
import { jobRuns } from './job-run.js';
import { jobStubs } from './job-stub.js';
import { jobSubmissions } from './job-submission.js';
import { jobSummaries } from './job-summary-record.js';
import { namespaces } from './namespace.js';
import { periodicLaunches } from './periodic/periodic-launch.js';
import { scalingEvents } from './scaling-event.js';

/** Every table of this area. */
export const jobTables: readonly TableName[] = [
  jobs,
  jobVersions,
  jobSubmissions,
  jobSummaries,
  jobStubs,
  jobRuns,
  scalingEvents,
  namespaces,
  periodicLaunches,
];
