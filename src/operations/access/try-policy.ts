import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import type { CallAccess } from '../../access/allows.js';
import type { InvalidAccess } from '../../access/errors.js';
import { parsePolicy } from '../../access/policy/parse-policy.js';
import { policyFaults } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import { type PolicyTrial, tryPolicy } from '../../access/try-policy.js';
import { quoted } from '../../shared/values.js';
import type { EngineContext } from '../context/engine-context.js';
import { invalidAccess } from './invalid-access.js';

/** Rules, and the call that a caller with nothing else would make. */
interface TryPolicyInput {
  /** The rules in the policy language. */
  readonly rules: string;
  /** A call by its area and name, such as `jobs.stop`. */
  readonly call: string;
  /** The namespace of what the call is about, or `*` for any; default: `default`. */
  readonly namespace?: string;
  /** The node pool or the path of the variable that the call is about; any when absent. */
  readonly name?: string;
}

/** Whether these rules allow a call. */
export interface TriedPolicy extends PolicyTrial {
  /** The right that the call requires, as a sentence. */
  readonly requires: string;
  /** Whether its operation checks the right on the record concerned, and perhaps more. */
  readonly isCheckedByOperation: boolean;
}

/** The table of calls, by area and name. */
type Table = Readonly<Record<string, Readonly<Record<string, { readonly access: CallAccess }>>>>;

function callNamed(table: Table, name: string): { readonly access: CallAccess } | undefined {
  const [area = '', method = '', ...more] = name.split('.');
  const methods = Object.hasOwn(table, area) ? (table[area] ?? {}) : {};
  return more.length === 0 && Object.hasOwn(methods, method) ? methods[method] : undefined;
}

/** Tries rules against a call of the table. Nothing is stored. `accessText` is the right that a call requires, as a sentence. */
export function tryPolicyOn(table: Table, accessText: (access: CallAccess) => string) {
  return (
    _context: EngineContext,
    _caller: Principal,
    { rules, call, namespace = 'default', name }: TryPolicyInput,
  ): ResultAsync<TriedPolicy, InvalidAccess> => {
    const faults = [...policyFaults({ Name: 'tried', Description: '', Rules: rules, JobACL: null })];
    const declared = callNamed(table, call);
    if (declared === undefined) faults.push(`there is no call ${quoted(call)}: name one such as jobs.stop`);
    const policy = parsePolicy(rules);
    if (declared === undefined || policy.isErr()) return errAsync(invalidAccess('policy', faults));
    const { access } = declared;
    const trial = tryPolicy(policy.value, access, { namespace, ...(name === undefined ? {} : { name }) });
    return okAsync({ ...trial, requires: accessText(access), isCheckedByOperation: 'checkedBy' in access });
  };
}
