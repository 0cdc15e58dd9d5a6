import { describe } from 'vitest';
import { expectErrors, expectValues } from '../functions/evaluated.js';

describe('a splat of null', () => {
  expectValues([
    ['null[*]', '[]', 'tuple'],
    ['convert(null, string)[*].a', '[]', 'tuple'],
    ['convert(null, object({a = string})).*.a', '[]', 'tuple'],
  ]);
  expectErrors([
    'convert(null, list(string))[*]',
    'convert(null, set(string)).*.a',
    'convert(null, tuple([string]))[*].a',
  ]);
});
