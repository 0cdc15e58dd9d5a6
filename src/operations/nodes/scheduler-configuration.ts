import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { StorageError } from '../../ports/storage.js';
import {
  defaultSchedulerConfiguration,
  type PreemptionConfig,
  type SchedulerConfiguration,
  schedulerConfigurations,
} from '../../scheduler/scheduler-configuration.js';
import { stated } from '../../shared/values.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { signalCapacity } from '../reactions/node-rows.js';
import { readSchedulerConfiguration as stored } from '../records/declared-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';

/** A complete configuration: omitted members get their defaults. */
interface SchedulerConfigurationInput
  extends Partial<
    Omit<SchedulerConfiguration, 'SchedulerAlgorithm' | 'PreemptionConfig' | 'CreateIndex' | 'ModifyIndex'>
  > {
  /** `binpack` when absent. */
  readonly SchedulerAlgorithm?: string;
  /** Job types that may preempt; none when absent or null. Omitted types may not. */
  readonly PreemptionConfig?: Partial<PreemptionConfig> | null;
}

/** The scheduler configuration of the whole installation. */
export function readSchedulerConfiguration(
  context: EngineContext,
  _caller: Principal,
  { waiting }: MayWait = {},
): ResultAsync<Answer<SchedulerConfiguration>, StorageError> {
  const query = {
    key: 'scheduler-configuration',
    tables: [schedulerConfigurations],
    run: (view: Parameters<typeof stored>[0]) => {
      const value = stored(view);
      return { index: value.ModifyIndex, value };
    },
  };
  return answerQuery(context, query, waiting);
}

/** Replaces the configuration; with `checkIndex` only if that is the index of its last change. `updated`: whether it was replaced. */
export function setSchedulerConfiguration(
  context: EngineContext,
  caller: Principal,
  input: SchedulerConfigurationInput & { readonly checkIndex?: number },
): ResultAsync<{ readonly updated: boolean; readonly index: number }, InvalidRequest | StorageError> {
  const { checkIndex, SchedulerAlgorithm, PreemptionConfig, ...others } = input;
  const { MemoryOversubscriptionEnabled, RejectJobRegistration, PauseEvalBroker, NodeLimitForFeasibilityChecks } =
    others;
  const switches = stated({
    MemoryOversubscriptionEnabled,
    RejectJobRegistration,
    PauseEvalBroker,
    NodeLimitForFeasibilityChecks,
  });
  const algorithm = algorithmOf(SchedulerAlgorithm);
  if (algorithm.isErr()) return errAsync(algorithm.error);
  return commitValue(context, caller, (tx): Result<{ updated: boolean; index: number }, never> => {
    const before = stored(tx);
    if (checkIndex !== undefined && checkIndex !== before.ModifyIndex) {
      return ok({ updated: false, index: before.ModifyIndex });
    }
    tx.put(schedulerConfigurations, {
      ...defaultSchedulerConfiguration,
      ...switches,
      SchedulerAlgorithm: algorithm.value,
      PreemptionConfig: { ...nothingPreempted, ...PreemptionConfig },
      CreateIndex: before.CreateIndex,
      ModifyIndex: tx.index,
    });
    // Blocked evaluations may be placeable under the new configuration.
    signalCapacity(tx);
    return ok({ updated: true, index: tx.index });
  });
}

const nothingPreempted: PreemptionConfig = {
  SystemSchedulerEnabled: false,
  SysBatchSchedulerEnabled: false,
  BatchSchedulerEnabled: false,
  ServiceSchedulerEnabled: false,
};

function algorithmOf(name = ''): Result<SchedulerConfiguration['SchedulerAlgorithm'], InvalidRequest> {
  if (name === '') return ok(defaultSchedulerConfiguration.SchedulerAlgorithm);
  if (name === 'binpack' || name === 'spread') return ok(name);
  return err(invalidRequest('SchedulerAlgorithm', `invalid scheduler algorithm: ${name.slice(0, 140)}`));
}
