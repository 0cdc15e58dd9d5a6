import { describe } from 'vitest';
import { expectErrors, expectValues } from '../functions/evaluated.js';

describe('arithmetic with zeros and infinities', () => {
  expectValues([
    ['-0 * 0.5', '-0'],
    ['-strlen("")', '-0'],
    ['-2.5 * 0', '-0'],
    ['-0 * -0.5', '0'],
    ['0.5 * (1 / 0)', '+Inf'],
    ['1e-400 * (-1 / 0)', '-Inf'],
    ['1e-400 / 0', '+Inf'],
    ['1e-400 / -0', '-Inf'],
    ['1e400 / (1 / 0)', '0'],
    ['-1e400 / (1 / 0)', '-0'],
    ['0 / -2.5', '-0'],
    ['-0 % 0.5', '-0'],
    ['-0 % -2.5', '0'],
    ['-5 % 5', '0'],
    ['-5.5 % 2', '-1.5'],
    ['(1 / 0) % 0', '+Inf'],
  ]);
  expectErrors(['0 / 0', '0 * (1 / 0)', '(1 / 0) / (1 / 0)', '5 % (1 / 0)', '0 % (1 / 0)', '(1 / 0) % 5']);
});
