import { ok } from 'neverthrow';
import { isBase64, wellFormed } from '../../../shared/values.js';
import { meteredJsonText } from '../../values/json-text.js';
import { dynamicType, type HclValue, stringType, stringValue } from '../../values/value.js';
import { argumentAt, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  fail,
  nullableParameter,
  overBudget,
  parameter,
  perCharacter,
  perElement,
} from '../function.js';
import { holdsInfinity } from '../numbers.js';
import { decodeCsv } from './csv.js';
import { decodeJson } from './json-decode.js';
import { decodeYaml } from './yaml-decode.js';
import { yamlText } from './yaml-encode.js';

const text = parameter('text', stringType);

export const encodingFunctions: readonly EagerFunction[] = [
  defineFunction('base64encode', [text], (args) => ok(stringValue(base64FromBytes(bytesFromText(textAt(args, 0))))), {
    cost: (args) => 5 + perCharacter(1 / 16)(args),
  }),
  defineFunction('base64decode', [text], decodeBase64, { cost: (args) => 15 + perCharacter(1 / 8)(args) }),
  defineFunction('urlencode', [text], (args) => ok(stringValue(urlEncoded(textAt(args, 0)))), {
    cost: perCharacter(1 / 2),
  }),
  defineFunction('jsonencode', [nullableParameter('value', dynamicType)], encodeJson),
  defineFunction('jsondecode', [text], (args, { budget }) => decodeJson(textAt(args, 0), budget)),
  defineFunction(
    'yamlencode',
    [nullableParameter('value', dynamicType)],
    (args, { budget }) => {
      const text = yamlText(argumentAt(args, 0), budget);
      return text === undefined ? overBudget('yamlencode') : ok(stringValue(text));
    },
    { cost: perElement(3) },
  ),
  defineFunction('yamldecode', [text], (args, { budget }) => decodeYaml(textAt(args, 0), budget)),
  defineFunction('csvdecode', [text], (args, { budget }) => decodeCsv(textAt(args, 0), budget)),
];

function decodeBase64(args: readonly HclValue[]): CallResult {
  const bytes = bytesFromBase64(textAt(args, 0));
  if (bytes === undefined) return fail('the string is not Base64 with padding');
  const decoded = textFromBytes(bytes);
  return decoded === undefined ? fail('the decoded bytes are not UTF-8 text') : ok(stringValue(decoded));
}

/** Form encoding: a space becomes `+`; only letters, digits and `-_.~` stay. */
function urlEncoded(value: string): string {
  const encoded = encodeURIComponent(wellFormed(value));
  return Object.entries(FORM_ENCODED).reduce((text, [found, written]) => text.replaceAll(found, written), encoded);
}

/** Characters that form encoding escapes differently from the platform. */
const FORM_ENCODED = { '%20': '+', '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' };

function encodeJson(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const value = argumentAt(args, 0);
  if (holdsInfinity(value)) return fail('an infinite number has no JSON form');
  const text = meteredJsonText(value, budget);
  return text === undefined ? overBudget('jsonencode') : ok(stringValue(text));
}

/** UTF-8; halves of surrogate pairs become the replacement character. */
export function bytesFromText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Decodes UTF-8, keeping a byte-order mark; undefined if the bytes are not UTF-8. */
export function textFromBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function base64FromBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Standard alphabet with padding; line breaks are skipped. Undefined for anything else. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, '');
  return isBase64(compact) ? Buffer.from(compact, 'base64') : undefined;
}
