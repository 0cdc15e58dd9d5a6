import type { TableName } from '../shared/table.js';
import { variables } from './variable.js';

/** All tables of this folder. */
export const variableTables: readonly TableName[] = [variables];
