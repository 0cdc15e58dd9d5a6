import type { TableName } from '../shared/table.js';
import { declarations } from './declaration.js';
import { functionCounts, pauses, runs, steps } from './run.js';
import { schedules } from './schedule.js';

/** The tables of functions whose changes end the wait of a blocking query. */
export const functionTables: readonly TableName[] = [declarations, pauses, schedules, functionCounts, runs, steps];
