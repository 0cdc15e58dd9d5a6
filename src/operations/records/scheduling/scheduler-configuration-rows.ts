import type { ReadView } from '../../../ports/storage.js';
import {
  defaultSchedulerConfiguration,
  type SchedulerConfiguration,
  schedulerConfigurations,
} from '../../../scheduler/scheduler-configuration.js';

/** The configuration; the default one until one is set. */
export function readSchedulerConfiguration(view: ReadView): SchedulerConfiguration {
  return view.get(schedulerConfigurations, ['configuration'])?.record ?? defaultSchedulerConfiguration;
}
