import type { TableName } from '../shared/table.js';
import { jobSubmissions } from './changes/job-submission.js';
import { jobs, jobVersions } from './job-record.js';
import { namespaces } from './namespaces/namespace.js';
import { periodicLaunches } from './periodic/periodic-launch.js';
import { jobRuns } from './runs/job-run.js';
import { scalingEvents } from './scaling/scaling-event.js';
import { jobStubs } from './status/job-stub.js';
import { jobSummaries } from './status/job-summary-record.js';

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
