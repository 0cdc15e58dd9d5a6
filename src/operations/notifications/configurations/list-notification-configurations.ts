import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import { queues } from '../../../notifications/queue/queue-record.js';
import { users } from '../../../notifications/workspace.js';
import type { StorageError } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { MayWait } from '../../waiting/blocking-query.js';
import { rowsUnder } from '../../waiting/parked-queries.js';
import { findConfiguration, findWorkspace, visibleConfigurations } from '../find-resource.js';
import { type PageRequest, readPage } from '../list-inputs.js';
import { readRowsWaiting } from '../read-waiting.js';
import { type ConfigurationView, type HealthView, viewConfiguration } from './configuration-view.js';

/** The position of a page in a counted list. Page numbers begin at 1. */
export interface Pagination {
  /** From 1. */
  readonly currentPage: number;
  /** The most rows of a page. */
  readonly pageSize: number;
  /** Null on the first page, and beyond the last one. */
  readonly prevPage: number | null;
  /** Null on the last page. */
  readonly nextPage: number | null;
  /** At least 1. */
  readonly totalPages: number;
  /** Rows on all pages. */
  readonly totalCount: number;
}

/** The configurations of a workspace, newest first. */
export interface ConfigurationList {
  readonly items: readonly ConfigurationView[];
  /** Null when no page was requested and the list is complete. */
  readonly pagination: Pagination | null;
}

/** The workspace's configurations, newest first; all of them, or one page when a page number or size is given. */
export function listNotificationConfigurations(
  context: EngineContext,
  caller: Principal,
  request: PageRequest & MayWait & { readonly workspaceId: string },
): ResultAsync<ConfigurationList & { readonly index: number }, NotFound | InvalidParameter | StorageError> {
  const { workspaceId } = request;
  const tables = [rowsUnder(configurations, [workspaceId], 'by_workspace'), queues, users];
  return readRowsWaiting(
    context,
    tables,
    (view): Result<ConfigurationList, NotFound | InvalidParameter> => {
      const workspace = findWorkspace(view, caller, workspaceId);
      if (workspace.isErr()) return err(workspace.error);
      const page = readPage(context.settings.notifications, request);
      if (page.isErr()) return err(page.error);
      const rows = visibleConfigurations(view, caller, workspaceId).toReversed();
      const { number, size } = page.value ?? { number: 1, size: rows.length };
      const items = rows
        .slice((number - 1) * size, number * size)
        .map((row) => viewConfiguration(context, view, row, workspace.value));
      return ok({ items, pagination: page.value === null ? null : paginate(number, size, rows.length) });
    },
    request.waiting,
  );
}

/** A page beyond the last one has neither a previous nor a next page. */
export function paginate(number: number, size: number, totalCount: number): Pagination {
  const totalPages = Math.max(1, Math.ceil(totalCount / size));
  const beyond = number > totalPages;
  return {
    currentPage: number,
    pageSize: size,
    prevPage: number > 1 && !beyond ? number - 1 : null,
    nextPage: number < totalPages ? number + 1 : null,
    totalPages,
    totalCount,
  };
}

/** One configuration. */
export function showNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  { configurationId, waiting }: MayWait & { readonly configurationId: string },
): ResultAsync<ConfigurationView & { readonly index: number }, NotFound | StorageError> {
  const tables = [rowsUnder(configurations, [configurationId]), rowsUnder(queues, [configurationId]), users];
  return readRowsWaiting(
    context,
    tables,
    (view) =>
      findConfiguration(view, caller, configurationId).map(({ configuration, workspace }) =>
        viewConfiguration(context, view, configuration, workspace),
      ),
    waiting,
  );
}

/** The health of the deliveries of one configuration. */
export function showDestinationHealth(
  context: EngineContext,
  caller: Principal,
  request: MayWait & { readonly configurationId: string },
): ResultAsync<HealthView & { readonly id: string; readonly index: number }, NotFound | StorageError> {
  return showNotificationConfiguration(context, caller, request).map(({ id, health, index }) => ({
    id,
    ...health,
    index,
  }));
}
