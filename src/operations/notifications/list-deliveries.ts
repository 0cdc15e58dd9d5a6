import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import {
  bodyKeyOf,
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  deliveryBodies,
  deliveryOutcomes,
} from '../../notifications/delivery.js';
import type { InvalidParameter, NotFound } from '../../notifications/errors.js';
import { triggerDefinitions, triggerFromSpelling } from '../../notifications/trigger.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { Key } from '../../shared/table.js';
import type { EngineContext } from '../shared/context.js';
import { type DeliveryDetails, type DeliverySummary, describeDelivery, summariseDelivery } from './delivery-view.js';
import { findConfiguration, findDelivery } from './find-resource.js';
import { type PageRequest, readPage } from './page.js';

export interface ListDeliveriesRequest {
  readonly configurationId: string;
  /** One of `pending`, `delivered`, `dead`, `cancelled`; all when absent. */
  readonly outcome?: string | undefined;
  /** Any spelling of a trigger; all when absent. */
  readonly trigger?: string | undefined;
  readonly page?: PageRequest;
}

export interface DeliveryList {
  readonly items: readonly DeliverySummary[];
  readonly currentPage: number;
  readonly pageSize: number;
  readonly prevPage: number | null;
  /** Null when there is nothing further. The log is not counted. */
  readonly nextPage: number | null;
}

/** Rows looked at for one page with a trigger filter, and the deepest row that a page number reaches. */
const deepest = 50_000;
const chunk = 256;

/** The delivery log of a configuration, newest first (with an outcome: latest ended first; pending: next due last). */
export function listDeliveries(
  context: EngineContext,
  caller: Principal,
  request: ListDeliveriesRequest,
): ResultAsync<DeliveryList, NotFound | InvalidParameter | StorageError> {
  return context.storage
    .read((view): Result<DeliveryList, NotFound | InvalidParameter> => {
      const found = findConfiguration(view, caller, request.configurationId);
      if (found.isErr()) return err(found.error);
      const { notifications } = context.settings;
      const page = readPage(notifications, request.page);
      if (page.isErr()) return err(page.error);
      const filter = readFilter(request);
      if (filter.isErr()) return err(filter.error);
      const { number, size } = page.value ?? { number: 1, size: notifications.defaultPageSize };
      const skip = (number - 1) * size;
      const matching = collect(view, request.configurationId, filter.value, skip, size + 1);
      return ok({
        items: matching.slice(0, size).map(summariseDelivery),
        currentPage: number,
        pageSize: size,
        prevPage: number > 1 ? number - 1 : null,
        nextPage: matching.length > size ? number + 1 : null,
      });
    })
    .andThen((it) => it);
}

/** One delivery with all its attempts. */
export function showDelivery(
  context: EngineContext,
  caller: Principal,
  request: { readonly deliveryId: string },
): ResultAsync<DeliveryDetails, NotFound | StorageError> {
  return context.storage
    .read((view) =>
      findDelivery(view, caller, request.deliveryId).map((delivery) =>
        describeDelivery(delivery, view.get(deliveryBodies, bodyKeyOf(delivery))?.record.body ?? null),
      ),
    )
    .andThen((it) => it);
}

interface Filter {
  readonly outcome: DeliveryOutcome | null;
  readonly trigger: string | null;
}

function readFilter(request: ListDeliveriesRequest): Result<Filter, InvalidParameter> {
  const outcome = deliveryOutcomes.find((known) => known === request.outcome) ?? null;
  if (request.outcome !== undefined && outcome === null) {
    const message = `The outcome must be one of ${deliveryOutcomes.join(', ')}`;
    return err({ type: 'invalid_parameter', parameter: 'filter[outcome]', message });
  }
  const trigger = request.trigger === undefined ? null : triggerFromSpelling(request.trigger);
  if (trigger === undefined) {
    const message = `The trigger must be one of ${triggerDefinitions.map(({ value }) => value).join(', ')}`;
    return err({ type: 'invalid_parameter', parameter: 'filter[trigger]', message });
  }
  return ok({ outcome, trigger: trigger?.value ?? null });
}

/** Walks the index in pieces, so that a page near the top costs little whatever the length of the log. */
function collect(view: ReadView, configurationId: string, filter: Filter, skip: number, take: number): Delivery[] {
  const { index, prefix } = indexFor(configurationId, filter.outcome);
  if (filter.trigger === null) {
    if (skip + take > deepest) return [];
    const rows = view.list(deliveries, { index, prefix, reverse: true, limit: skip + take });
    return rows.slice(skip).map((row) => row.record);
  }
  const matching: Delivery[] = [];
  let before: Key | undefined;
  for (let seen = 0; seen < deepest && matching.length < skip + take; seen += chunk) {
    const range = before === undefined ? { prefix } : { from: prefix, to: before };
    const rows = view.list(deliveries, { index, ...range, reverse: true, limit: chunk });
    for (const { record } of rows) if (record.trigger === filter.trigger) matching.push(record);
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk) break;
    before = deliveries.indexes[index]?.key(last);
  }
  return matching.slice(skip, skip + take);
}

function indexFor(configurationId: string, outcome: DeliveryOutcome | null): { index: string; prefix: Key } {
  if (outcome === null) return { index: 'by_configuration', prefix: [configurationId] };
  if (outcome === 'pending') return { index: 'due', prefix: [configurationId] };
  return { index: 'settled', prefix: [configurationId, outcome] };
}
