import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, authorise, everyNamespace, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import type { FilterSyntaxError } from '../../filter/parse-filter.js';
import type { FilterEvaluationError } from '../../filter/value-tests.js';
import { runOfAllocationId } from '../../functions/job-projection.js';
import { type InvalidRequest, malformedId } from '../../jobs/errors.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { isUuid, type Page, type PageByToken, type RowFilter, readPage } from '../../queries/page.js';
import { allocations } from '../../scheduler/allocation.js';
import {
  chooseInstances,
  type ServiceNamespaceStub,
  type ServiceRegistration,
  serviceList,
  serviceRegistrations,
} from '../../services/service-registration.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { type FilterFault, heldSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { someNamespace } from '../records/declared-rows.js';
import { readRunAnywhere, readShownJob } from '../records/function-jobs.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsInNamespaces, rowsUnder } from '../waiting/parked-queries.js';

type ServiceRead<T, E = never> = ResultAsync<Answer<T>, PermissionDenied | StorageError | E>;

/** The services of a namespace, or of all that the caller may read (`*`). Needs `read-job`. */
export function listServices(
  context: EngineContext,
  caller: Principal,
  { namespace = 'default', filter = '', waiting }: MayWait & { readonly namespace?: string; readonly filter?: string },
): ServiceRead<readonly ServiceNamespaceStub[], FilterFault> {
  const everywhere = namespace === everyNamespace;
  if (!everywhere && !allows(caller, namespace, ['read-job'])) return errAsync({ type: 'permission_denied' });
  const matching = registrationFilter(filter);
  if (matching.isErr()) return errAsync(matching.error);
  const names = everywhere ? Object.keys(caller.namespaces) : [namespace];
  const watched = rowsInNamespaces(serviceRegistrations, caller.management && everywhere ? ['*'] : names);
  const query = {
    // Over all namespaces the result depends on the caller.
    key: `services:${JSON.stringify([everywhere ? caller : namespace, filter])}`,
    tables: watched,
    run: (view: ReadView) => {
      const rows = view.list(serviceRegistrations, everywhere ? {} : { prefix: [namespace] });
      const sees = (name: string): boolean => allows(caller, name, ['read-job']);
      const visible = rows.map(({ record }) => record).filter(({ Namespace }) => sees(Namespace));
      const answer = answerOf(view, allMatching(visible, matching.value).map(serviceList));
      return everywhere && answer.value.isOk() && !someNamespace(view, sees) ? { ...answer, index: 0 } : answer;
    },
  };
  return answerQuery(context, query, waiting).andThen(foundOrFault);
}

interface ReadServiceInput extends MayWait, Pick<PageByToken, 'perPage' | 'nextToken'> {
  readonly namespace?: string;
  readonly name: string;
  /** `<number>|<key>`: this many instances, always the same ones for the same key. */
  readonly choose?: string;
  /** A filter expression over the registrations. */
  readonly filter?: string;
}

/** A page of the instances of a service, by ID; chosen instances are of this page. Needs `read-job`. */
export function readService(
  context: EngineContext,
  _caller: Principal,
  { namespace = 'default', name, choose = '', filter = '', perPage = 0, nextToken = '', waiting }: ReadServiceInput,
): ServiceRead<Page<ServiceRegistration>, InvalidRequest | FilterFault> {
  const choice = choiceFrom(choose);
  if (choice.isErr()) return errAsync(choice.error);
  const matching = registrationFilter(filter);
  if (matching.isErr()) return errAsync(matching.error);
  const query = {
    key: `service:${JSON.stringify([namespace, name, choose, filter, perPage, nextToken])}`,
    tables: [rowsUnder(serviceRegistrations, [namespace, name])],
    run: (view: ReadView) => {
      const found = view.list(serviceRegistrations, { prefix: [namespace, name] }).map(({ record }) => record);
      const page = readPage(heldSource(found, { nextToken }, tokenOf), perPage, matching.value);
      const chosen = ({ items, nextToken: next }: Page<ServiceRegistration>) => ({
        items: choice.value === undefined ? items : chooseInstances(items, choice.value.count, choice.value.key),
        nextToken: next,
      });
      return answerOf(view, page.map(chosen));
    },
  };
  return answerQuery(context, query, waiting).andThen(foundOrFault);
}

/** The start of a page of instances. */
function tokenOf({ Namespace, ID }: ServiceRegistration): string {
  return `${Namespace}.${ID}`;
}

type Matching = RowFilter<ServiceRegistration, FilterEvaluationError>;

/** Whether a registration matches a filter; an empty filter matches all. */
function registrationFilter(expression: string): Result<Matching, FilterSyntaxError> {
  if (expression === '') return ok(() => ok(true));
  return compileFilter.service(expression).map((filter) => (registration) => filter.matches(registration));
}

function allMatching(
  registrations: readonly ServiceRegistration[],
  matches: Matching,
): Result<readonly ServiceRegistration[], FilterEvaluationError> {
  return readPage(heldSource(registrations, {}, tokenOf), 0, matches).map(({ items }) => items);
}

/** Errors are returned at once, without a wait. */
function answerOf<T>(
  view: ReadView,
  value: Result<T, FilterEvaluationError>,
): Answer<Result<T, FilterEvaluationError>> {
  return { index: value.isErr() ? Number.MAX_SAFE_INTEGER : view.tableIndex(serviceRegistrations), value };
}

function foundOrFault<T>({ index, value }: Answer<Result<T, FilterEvaluationError>>): Result<Answer<T>, FilterFault> {
  return value.map((found) => ({ index, value: found }));
}

function choiceFrom(text: string): Result<{ count: number; key: string } | undefined, InvalidRequest> {
  if (text === '') return ok(undefined);
  const [, count = '', key = ''] = /^\+?(\d{1,9})\|(.+)$/s.exec(text) ?? [];
  if (key !== '') return ok({ count: Number(count), key });
  const message = "failed to choose services: the parameter must have the form '<number>|<key>'";
  return err({ type: 'invalid_request', field: 'choose', message });
}

/** The service instances of a job's allocations; undefined when the job does not exist. Needs `read-job`. */
export function listJobServices(
  context: EngineContext,
  _caller: Principal,
  { namespace = 'default', jobId, waiting }: MayWait & { readonly namespace?: string; readonly jobId: string },
): ServiceRead<readonly ServiceRegistration[] | undefined> {
  const query = {
    key: `job-services:${JSON.stringify([namespace, jobId])}`,
    tables: [rowsUnder(serviceRegistrations, [namespace, jobId], 'by_job')],
    run: (view: ReadView) => {
      if (readShownJob(view, namespace, jobId) === undefined) return { index: 0, value: undefined };
      const rows = view.list(serviceRegistrations, { index: 'by_job', prefix: [namespace, jobId] });
      return { index: view.tableIndex(serviceRegistrations), value: rows.map(({ record }) => record) };
    },
  };
  return answerQuery(context, query, waiting);
}

/** The service instances of one allocation; undefined when the allocation does not exist. Needs `read-job`. */
export function listAllocationServices(
  context: EngineContext,
  caller: Principal,
  { allocationId: asked, waiting }: MayWait & { readonly allocationId: string },
): ServiceRead<readonly ServiceRegistration[] | undefined, InvalidRequest> {
  const allocationId = asked.toLowerCase();
  const query = {
    key: `allocation-services:${allocationId}`,
    tables: [rowsUnder(serviceRegistrations, [allocationId], 'by_allocation')],
    run: (view: ReadView) => {
      const visible = namespaceOfAllocation(view, allocationId) !== undefined;
      const rows = visible
        ? view.list(serviceRegistrations, { index: 'by_allocation', prefix: [allocationId] })
        : undefined;
      return { index: view.tableIndex(serviceRegistrations), value: rows?.map(({ record }) => record) };
    },
  };
  const allowed = authorise(caller, everyNamespace, ['read-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  if (!isUuid(allocationId)) return errAsync(malformedId());
  return context.storage
    .read((view) => namespaceOfAllocation(view, allocationId))
    .andThen((namespace) => (namespace === undefined ? ok(undefined) : authorise(caller, namespace, ['read-job'])))
    .andThen(() => answerQuery(context, query, waiting));
}

/** Also of the allocation of a run of a function, which has no services. */
function namespaceOfAllocation(view: ReadView, id: string): string | undefined {
  const ofRun = runOfAllocationId(id);
  if (ofRun === undefined) return view.get(allocations, [id])?.record.Namespace;
  return readRunAnywhere(view, ofRun)?.job.Namespace;
}

interface RemoveServiceInput {
  readonly namespace?: string;
  readonly name: string;
  readonly id: string;
}

/**
 * Removes one instance from the catalogue, until its allocation registers it again. Needs `submit-job` or
 * `delete-service-registration`.
 */
export function removeService(
  context: EngineContext,
  caller: Principal,
  { namespace = 'default', name, id }: RemoveServiceInput,
): ResultAsync<{ readonly index: number }, InvalidRequest | StorageError> {
  return commit(context, caller, (tx) => {
    if (tx.remove(serviceRegistrations, [namespace, name, id])) return ok<undefined, InvalidRequest>(undefined);
    return err<undefined, InvalidRequest>({
      type: 'invalid_request',
      field: 'id',
      message: 'service registration not found',
    });
  }).map(({ index }) => ({ index }));
}
