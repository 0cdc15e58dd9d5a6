import { describe, expect, it } from 'vitest';
import {
  allocationToRead,
  allocationToUse,
} from '../../../../../adapters/cli/commands/allocations/allocation-commands.js';
import type { AllocationListStub } from '../../../../../src/scheduler/index.js';

/** `name:group:status:task=state`, in the order in which they were made. */
function allocations(...texts: readonly string[]): AllocationListStub[] {
  return texts.map((text, at) => {
    const [ID = '', TaskGroup = '', ClientStatus = '', task = ''] = text.split(':');
    const [name = '', State = ''] = task.split('=');
    const state = { State, StartedAt: State === 'pending' ? null : '2026-01-01T00:00:00Z' };
    const TaskStates = task === '' ? null : { [name]: state };
    return { ID, TaskGroup, ClientStatus, TaskStates, CreateIndex: 10 + at, ModifyIndex: 10 } as AllocationListStub;
  });
}

describe('the allocation whose output is shown', () => {
  it.each([
    ['the newest that runs', ['a:g:running:t=running', 'b:g:running:t=running', 'c:g:complete:t=dead'], {}, 'b'],
    ['the newest that has run', ['a:g:failed:t=dead', 'b:g:complete:t=dead', 'c:g:pending:t=pending'], {}, 'b'],
    ['the newest at all', ['a:g:pending', 'b:g:pending'], {}, 'b'],
    ['one of the group', ['a:g:failed:t=dead', 'b:h:running:t=running'], { group: 'g' }, 'a'],
    ['one with the task', ['a:g:failed:t=dead', 'b:h:running:u=running'], { task: 't' }, 'a'],
    ['none', [], {}, undefined],
    ['none of the group', ['a:g:running:t=running'], { group: 'h' }, undefined],
  ])('is %s', (_name, texts, wanted, chosen) => {
    expect(allocationToRead(allocations(...texts), wanted)?.ID).toBe(chosen);
  });
});

describe('the allocation in which something is run', () => {
  it.each([
    ['the newest that runs', ['a:g:running:t=running', 'b:g:running:t=running'], {}, 'b'],
    ['one in which the task runs', ['a:g:running:t=running', 'b:g:running:t=dead'], { task: 't' }, 'a'],
    ['one that runs, if the task does in none', ['a:g:running:t=dead'], { task: 't' }, 'a'],
    ['none that has ended', ['a:g:complete:t=dead'], {}, undefined],
  ])('is %s', (_name, texts, wanted, chosen) => {
    expect(allocationToUse(allocations(...texts), wanted)?.ID).toBe(chosen);
  });
});
