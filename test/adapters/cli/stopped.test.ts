import { expect, test } from 'vitest';
import { onlyTask } from '../../../adapters/cli/commands/allocations/allocation-commands.js';
import { Stopped, StoppedInColour } from '../../../adapters/cli/stopped.js';

test('what a message names cannot control the terminal, save in messages that colour themselves', () => {
  expect(new Stopped('no task \u001b[2J\n').message).toBe('no task \\u001b[2J\n');
  expect(new StoppedInColour('\u001b[31mred\u001b[0m').message).toBe('\u001b[31mred\u001b[0m');
  expect(() => onlyTask(['a\u001b[7m', 'b'])).toThrow('name one of its tasks: a\\u001b[7m, b');
});
