import type { TableName } from '../shared/table.js';
import { variables } from './variable.js';

/** Every table of this area. */
export const variableTables: readonly TableName[] = [variables];
