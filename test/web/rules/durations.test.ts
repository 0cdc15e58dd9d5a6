import { expect, it } from 'vitest';
import { bytesText, counted, durationText, relativeText } from '../../../web/rules/durations.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

it.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [80, '80 ms'],
  [999.4, '999 ms'],
  [999.6, '1 s'],
  [1250, '1.2 s'],
  [9999, '9.9 s'],
  [10_000, '10 s'],
  [59_999, '59 s'],
  [minute, '1 min'],
  [minute + 1000, '1 min 1 s'],
  [2 * hour + 5 * minute + 59_000, '2 h 5 min'],
  [hour + 59_000, '1 h'],
  [day - 1, '23 h 59 min'],
  [day, '1 d'],
  [400 * day + 23 * hour, '400 d 23 h'],
])('a duration has at most two units: %d ms', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

it.each([
  [0, 'now'],
  [999, 'now'],
  [-999, 'now'],
  [1000, 'in 1 s'],
  [-1000, '1 s ago'],
  [-59_999, '59 s ago'],
  [90_000, 'in 1 min'],
  [-3 * hour, '3 h ago'],
  [50 * hour, 'in 2 d'],
])('a time is named by its distance from now: %d ms', (distance, text) => {
  expect(relativeText(1e12 + distance, 1e12)).toBe(text);
});

it.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [1536, '1.5 KiB'],
  [1024 ** 2 - 1, '1024 KiB'],
  [3.1 * 1024 ** 2, '3.1 MiB'],
  [250 * 1024 ** 3, '250 GiB'],
  [5000 * 1024 ** 4, '5000 TiB'],
])('bytes have a unit of 1,024: %d', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

it.each([
  [0, '0 runs'],
  [1, '1 run'],
  [1204, '1,204 runs'],
])('a count has its noun: %d', (count, text) => {
  expect(counted(count, 'run')).toBe(text);
});
