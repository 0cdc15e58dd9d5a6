import type { Body, BodyItem, Expression, Reference, Step, TemplatePart } from './tree.js';

/** Prints a body in the native syntax. Parsing the result gives the same tree, except for offsets. */
export function printBody(body: Body): string {
  return printItems(body.items, '');
}

function printItems(items: readonly BodyItem[], indent: string): string {
  return items.map((item) => `${indent}${printItem(item, indent)}\n`).join('');
}

function printItem(item: BodyItem, indent: string): string {
  if (item.kind === 'attribute') return `${item.name} = ${printExpression(item.value)}`;
  const header = [item.type, ...item.labels.map(({ text }) => `"${escapeText(text)}"`)].join(' ');
  if (item.body.items.length === 0) return `${header} {}`;
  return `${header} {\n${printItems(item.body.items, `${indent}  `)}${indent}}`;
}

/** An expression on one line. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'number':
      return expression.text;
    case 'keyword':
      return expression.name;
    case 'template':
      return `"${printTemplateParts(expression.parts, expression.passThrough)}"`;
    case 'reference':
      return referenceText(expression);
    case 'traversal':
      return spaced(printExpression(expression.source), printSteps(expression.steps));
    case 'unary':
      return `${expression.operator}${printExpression(expression.operand)}`;
    case 'binary':
      return printChain(expression);
    case 'conditional': {
      const { condition, whenTrue, whenFalse } = expression;
      return `${printExpression(condition)} ? ${printExpression(whenTrue)} : ${printExpression(whenFalse)}`;
    }
    case 'tuple':
      return `[${expression.items.map(printExpression).join(', ')}]`;
    case 'object': {
      const items = expression.items.map(({ key, value }) => `${printExpression(key)} = ${printExpression(value)}`);
      return `{ ${items.join(', ')} }`;
    }
    case 'for':
      return printFor(expression);
    case 'call': {
      const given = expression.arguments.map(printExpression).join(', ');
      return `${expression.name}(${given}${expression.expandLast ? '...' : ''})`;
    }
    case 'parentheses':
      return `(${printExpression(expression.inner)})`;
  }
}

/** A chain of operators may be long: its left operands are followed in a loop. */
function printChain(expression: Expression & { kind: 'binary' }): string {
  const pieces: string[] = [];
  let at: Expression = expression;
  while (at.kind === 'binary') {
    pieces.push(` ${at.operator} ${printExpression(at.right)}`);
    at = at.left;
  }
  return printExpression(at) + pieces.reverse().join('');
}

function printFor(expression: Expression & { kind: 'for' }): string {
  const { keyName, valueName, collection, key, value, grouped, condition } = expression;
  const names = keyName === undefined ? valueName : `${keyName}, ${valueName}`;
  const head = `for ${names} in ${printExpression(collection)} : `;
  const tail = condition === undefined ? '' : ` if ${printExpression(condition)}`;
  if (key === undefined) return `[${head}${printExpression(value)}${tail}]`;
  return `{${head}${printExpression(key)} => ${printExpression(value)}${grouped ? '...' : ''}${tail}}`;
}

/** Its placeholder is its source text, spaces included. */
function referenceText(reference: Reference): string {
  return reference.placeholder.slice(2, -1);
}

function printSteps(steps: readonly Step[]): string {
  return steps.map(printStep).reduce(spaced, '');
}

/** A dot directly after a number would become part of the number. */
function spaced(before: string, behind: string): string {
  return /\d$/.test(before) && behind.startsWith('.') ? `${before} ${behind}` : before + behind;
}

function printStep(step: Step): string {
  switch (step.kind) {
    case 'attribute-step':
      return `.${step.name}`;
    case 'index-step':
      return step.legacy ? `.${printExpression(step.key)}` : `[${printExpression(step.key)}]`;
    case 'splat-step':
      return (step.full ? '[*]' : '.*') + printSteps(step.each);
  }
}

/** A single `${ }` whose result must stay a string needs an empty literal next to it: a space with a strip marker. */
function printTemplateParts(parts: readonly TemplatePart[], passThrough: boolean): string {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'interpolation' && !passThrough) {
    const value = printExpression(only.value);
    return value.startsWith(' ') ? `\${${value}~} ` : ` \${~${value}}`;
  }
  return parts.map(printPart).join('');
}

function printPart(part: TemplatePart): string {
  switch (part.kind) {
    case 'text':
      return escapeText(part.text);
    case 'interpolation':
      return `\${${printExpression(part.value)}}`;
    case 'if': {
      const otherwise = part.whenFalse === undefined ? '' : `%{ else }${part.whenFalse.map(printPart).join('')}`;
      return `%{ if ${printExpression(part.condition)} }${part.whenTrue.map(printPart).join('')}${otherwise}%{ endif }`;
    }
    case 'for-directive': {
      const names = part.keyName === undefined ? part.valueName : `${part.keyName}, ${part.valueName}`;
      const head = `%{ for ${names} in ${printExpression(part.collection)} }`;
      return `${head}${part.body.map(printPart).join('')}%{ endfor }`;
    }
  }
}

function escapeText(text: string): string {
  return (
    text
      .replace(/[\\"]/g, '\\$&')
      .replace(/[\0-\x1f\x7f]/g, escapeControl)
      .replace(/[$%]\{/g, (found) => `${found.charAt(0)}${found}`)
      // At the end it would form an escape together with a following sequence.
      .replace(/[$%]$/, escapeControl)
  );
}

function escapeControl(character: string): string {
  const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return named[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
