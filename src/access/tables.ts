import type { TableName } from '../shared/table.js';
import { oneTimeTokens } from './one-time-tokens.js';
import { policies } from './policy-record.js';
import { roles } from './role-record.js';
import { tokens } from './tokens.js';

/** Every table of this area. */
export const accessTables: readonly TableName[] = [tokens, oneTimeTokens, policies, roles];
