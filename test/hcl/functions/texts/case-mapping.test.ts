import { expect, it } from 'vitest';
import { titleCase } from '../../../../src/hcl/functions/texts/texts.js';

it.each([
  ["it's a-b c_d 1e", "It'S A-B C_d 1e"],
  ['ǆ ǳ ა éß', 'ǅ ǲ ა Éß'],
  ['a\u2003b\u0085c', 'A\u2003B\u0085C'],
  ['😀a 😀', '😀a 😀'],
])('titles of %s', (text, title) => expect(titleCase(text)).toBe(title));
