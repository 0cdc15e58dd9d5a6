import { describe } from 'vitest';
import { expectErrors, expectValues } from '../functions/evaluated.js';

describe('a for-expression over several lines', () => {
  expectValues([
    ['{\n  for k, v in {a = 1, b = 2} : k => v\n}', '{"a":1,"b":2}'],
    ['{ # all\n\n  for\n  k,\n  v\n  in\n  {a = 1}\n  :\n  v\n  =>\n  k...\n  if\n  true\n}', '{"1":["a"]}'],
    ['[\n  for v in [1, 2] :\n  v\n]', '[1,2]'],
    ['{\n  a = 1\n  for = 2\n}', '{"a":1,"for":2}'],
    ['{\n\n}', '{}'],
    [
      '{\n  /* none */\n\n  a = {\n    for k in ["x"] : k => {\n      b = k\n      for = k\n    }\n  }\n}',
      '{"a":{"x":{"b":"x","for":"x"}}}',
    ],
  ]);
  expectErrors(['{\n  for = 1\n}', '{a = 1\n  for k in [] : k => k\n}']);
});
