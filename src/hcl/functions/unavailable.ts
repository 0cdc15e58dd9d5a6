import { stringType } from '../values/value.js';
import type { EagerFunction } from './function.js';
import { defineFunction, fail, parameter } from './function.js';

const path = parameter('path', stringType);

/**
 * Functions that exist by name and always fail: a job is parsed inside a service, whose files it must not read. `try` can
 * handle the failure.
 */
export const unavailableFunctions: readonly EagerFunction[] = [
  ...['file', 'filebase64', 'fileexists', 'abspath', 'basename', 'dirname', 'pathexpand'].map((name) =>
    defineFunction(name, [path], () => fail(`${name} is not available: file functions are switched off here`)),
  ),
  defineFunction('fileset', [path, parameter('pattern', stringType)], () =>
    fail('fileset is not available: file functions are switched off here'),
  ),
];

/** Replacements for functions that exist in related languages but not in this one. */
export const absentFunctionHints: ReadonlyMap<string, string> = new Map([
  ['toset', 'write convert(VALUE, set(any))'],
  ['tolist', 'write convert(VALUE, list(any))'],
  ['tomap', 'write convert(VALUE, map(any))'],
  ['tostring', 'write convert(VALUE, string)'],
  ['tonumber', 'write convert(VALUE, number)'],
  ['tobool', 'write convert(VALUE, bool)'],
  ['regex', 'there is regex_replace(TEXT, PATTERN, REPLACEMENT)'],
  ['regexall', 'there is regex_replace(TEXT, PATTERN, REPLACEMENT)'],
  ['timestamp', 'the time of parsing is not available; pass it in as a variable'],
  ['templatefile', 'write the template as a heredoc'],
  ['base64gzip', 'there is base64encode(TEXT)'],
  ['sum', 'add the elements with +'],
  ['anytrue', 'write contains(LIST, true)'],
  ['alltrue', 'write !contains(LIST, false)'],
  ['one', 'write LIST[0]'],
  ['startswith', 'compare with trimprefix(TEXT, PREFIX)'],
  ['endswith', 'compare with trimsuffix(TEXT, SUFFIX)'],
  ['matchkeys', 'write a for expression with an if clause'],
  ['transpose', 'write a for expression'],
]);
