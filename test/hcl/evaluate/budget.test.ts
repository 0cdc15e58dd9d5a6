import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/hcl/evaluate/budget.js';

describe('a budget', () => {
  it('is spent once it was overdrawn, whatever is charged afterwards', () => {
    const budget = createBudget({ steps: 10 });
    expect(budget.charge(10)).toBe(true);
    expect(budget.charge(1)).toBe(false);
    expect(budget.charge(0)).toBe(false);
    expect(budget.exhausted).toBe(true);
  });

  it('is spent by a text or a collection that is too large, however little it costs', () => {
    expect(createBudget({ textLength: 5 }).chargeText(6)).toBe(false);
    expect(createBudget({ collectionSize: 5 }).chargeElements(6)).toBe(false);
    expect(createBudget({ textLength: 5 }).chargeText(5)).toBe(true);
  });

  it('starts anew with each turn, until the steps of all turns are spent', () => {
    const budget = createBudget({ steps: 100, totalSteps: 250 });
    expect(budget.charge(90)).toBe(true);
    budget.beginTurn();
    expect(budget.charge(100)).toBe(true);
    budget.beginTurn();
    expect(budget.charge(61)).toBe(false);
    expect(budget.spent).toBe(251);
  });

  it('does not come back with a turn once it is spent', () => {
    const budget = createBudget({ steps: 10 });
    budget.charge(11);
    budget.beginTurn();
    expect(budget.charge(1)).toBe(false);
  });

  it('calls a turn long when a quarter of its steps is spent', () => {
    const budget = createBudget({ steps: 100, totalSteps: 1000 });
    budget.charge(25);
    expect(budget.turnIsLong).toBe(false);
    budget.charge(1);
    expect(budget.turnIsLong).toBe(true);
    budget.beginTurn();
    expect(budget.turnIsLong).toBe(false);
  });

  it('has at least one turn in all', () => {
    const budget = createBudget({ steps: 100, totalSteps: 10 });
    expect(budget.limits.totalSteps).toBe(100);
    expect(budget.charge(100)).toBe(true);
  });
});
