import { everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { type JobListStub, jobListStub } from '../../jobs/job-stub.js';
import { jobSummaries } from '../../jobs/job-summary-record.js';
import type { ListQuery, ReadView, Row } from '../../ports/storage.js';
import { jobPlaceOf, jobTokenOf } from '../../queries/list-tokens.js';
import { type Page, type PageRequest, readPage } from '../../queries/page.js';
import type { EngineContext } from '../shared/context.js';
import { namespaceOf } from './job-reference.js';
import { type NamespaceQuery, queryKey, type Read, readQuery, type Visibility, visibilityOf } from './read-query.js';

export interface ListJobsInput extends NamespaceQuery, PageRequest {
  /** Beginning of the IDs. */
  readonly prefix?: string;
  /** Adds each job's meta. */
  readonly meta?: boolean;
}

/**
 * The jobs of a namespace, or of all that the caller may list, by namespace and ID; instances are among them. Index: that
 * of the jobs and summaries tables.
 */
export function listJobs(context: EngineContext, caller: Principal, input: ListJobsInput): Read<Page<JobListStub>> {
  const namespace = namespaceOf(input);
  const visibility = visibilityOf(caller, namespace, ['list-jobs']);
  const { prefix = '', meta = false, perPage = 0, nextToken = '', reverse = false } = input;
  const query = {
    key: queryKey('jobs', namespace, visibility.key, prefix, meta, perPage, nextToken, reverse),
    tables: [jobs, jobSummaries],
    run: (view: ReadView) => {
      const page = readPage(jobSource(view, namespace, visibility, input), perPage);
      const items = page.items.map(({ record }) => {
        const summary = view.get(jobSummaries, [record.Namespace, record.ID])?.record;
        return jobListStub(record, summary, meta);
      });
      const index = Math.max(view.tableIndex(jobs), view.tableIndex(jobSummaries));
      return { index, value: { items, nextToken: page.nextToken } };
    },
  };
  return readQuery(context, caller, namespace, ['list-jobs'], query, input.waiting);
}

function jobSource(view: ReadView, namespace: string, visibility: Visibility, input: ListJobsInput) {
  const { prefix = '', nextToken = '', reverse = false } = input;
  const inAll = namespace === everyNamespace;
  return {
    slice: (last: Row<Job> | undefined, limit: number | undefined): readonly Row<Job>[] => {
      const place = last === undefined ? placeOfToken(nextToken) : [last.record.Namespace, last.record.ID];
      const query: ListQuery = {
        ...(inAll ? {} : { prefix: [namespace], ...(prefix === '' ? {} : { textPrefix: prefix }) }),
        ...(place === undefined ? {} : rangeAt(place, reverse, last !== undefined)),
        ...(limit === undefined ? {} : { limit }),
        reverse,
      };
      return view.list(jobs, query);
    },
    accept: ({ record }: Row<Job>) =>
      visibility.sees(record.Namespace) && (!inAll || prefix === '' || record.ID.startsWith(prefix)),
    token: ({ record }: Row<Job>) => jobTokenOf(record),
  };
}

function placeOfToken(nextToken: string): readonly string[] | undefined {
  return nextToken === '' ? undefined : jobPlaceOf(nextToken);
}

/** From a place on, or from behind it. A tuple with one more part stands right behind its beginning. */
function rangeAt(place: readonly string[], reverse: boolean, behind: boolean): Pick<ListQuery, 'from' | 'to'> {
  if (reverse) return { to: behind ? place : [...place, null] };
  return { from: behind ? [...place, null] : place };
}
