import type { TableName } from '../shared/table.js';
import { tokens } from './tokens.js';

/** Every table of this area. */
export const accessTables: readonly TableName[] = [tokens];
