import type { Affinity, Constraint } from '../../jobs/document/placement.js';
import type { RequestedDevice } from '../../jobs/document/resources.js';
import { compareBytes, parseBoolean, parseFloat64, parseInt64, trimWhiteSpace } from '../../shared/values.js';
import { healthyInstances } from '../cluster/node-class.js';
import type { Node, NodeDeviceGroup } from '../node.js';
import { hasCommonItem, isSubset, items, matchesPattern, matchesVersion } from './constraint-operators.js';
import type { TaskRequest } from './requirements.js';

/** An attribute of a device as its node reports it: exactly one member is set; a number may have a unit such as `GiB` or `MHz`. */
export interface DeviceAttribute {
  readonly Int?: number | null;
  readonly Float?: number | null;
  readonly String?: string | null;
  readonly Bool?: boolean | null;
  readonly Unit?: string;
}

/** The properties of a node's device group that constraints can name. */
export interface DeviceSubject {
  readonly Vendor: string;
  readonly Type: string;
  readonly Name: string;
  readonly Instances: readonly { readonly ID: string }[] | null;
  readonly Attributes: Readonly<Record<string, DeviceAttribute>> | null;
}

/** The value of one side of a device constraint. */
type DeviceValue =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'truth'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint; readonly unit: DeviceUnit | undefined }
  | { readonly kind: 'float'; readonly value: number; readonly unit: DeviceUnit | undefined }
  /** An attribute without a value. */
  | { readonly kind: 'nothing' };

type Quantity = Extract<DeviceValue, { readonly unit: unknown }>;

/** Resolves `${device.model}`, `${device.attr.memory}` … on the device, or parses a literal; undefined: not found. */
export function resolveDeviceTarget(target: string, device: DeviceSubject): DeviceValue | undefined {
  if (!target.startsWith('${')) return parseDeviceValue(target);
  const name = target.slice('${'.length);
  switch (name) {
    case 'device.ids}':
      return { kind: 'text', value: (device.Instances ?? []).map(({ ID }) => ID).join(',') };
    case 'device.model}':
      return { kind: 'text', value: device.Name };
    case 'device.vendor}':
      return { kind: 'text', value: device.Vendor };
    case 'device.type}':
      return { kind: 'text', value: device.Type };
    default:
      return name.startsWith('device.attr.')
        ? attributeValue(device.Attributes, name.slice('device.attr.'.length).replace(/\}$/, ''))
        : undefined;
  }
}

type Comparison = (left: DeviceValue, right: DeviceValue) => boolean;

const equal = ordered((order) => order === 0);
const different = ordered((order) => order !== 0);
const containsAll = ofTexts((left, right) => isSubset(items(right), items(left)));

/** The comparisons of two values that are found; any other is false. */
const comparisons: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['=', equal],
  ['==', equal],
  ['is', equal],
  ['<', ordered((order) => order < 0)],
  ['<=', ordered((order) => order <= 0)],
  ['>', ordered((order) => order > 0)],
  ['>=', ordered((order) => order >= 0)],
  ['version', (left, right) => isVersionMatch(left, right, 'loose')],
  ['semver', (left, right) => isVersionMatch(left, right, 'semver')],
  ['regexp', ofTexts(matchesPattern)],
  ['set_contains', containsAll],
  ['set_contains_all', containsAll],
  ['set_contains_any', ofTexts((left, right) => hasCommonItem(items(left), items(right)))],
]);

/** Whether a device with these values meets the constraint; undefined stands for a side that is not found. */
export function checkDeviceConstraint(
  operand: string,
  left: DeviceValue | undefined,
  right: DeviceValue | undefined,
): boolean {
  switch (operand) {
    case 'distinct_hosts':
    case 'distinct_property':
      return true;
    case 'is_set':
      return left !== undefined;
    case 'is_not_set':
      return left === undefined;
    case '!=':
    case 'not':
      return left === undefined || right === undefined ? left !== right : different(left, right);
    default:
      return left !== undefined && right !== undefined && comparisons.get(operand)?.(left, right) === true;
  }
}

/** A version may be written as an integer; its constraint is always a string. */
function isVersionMatch(left: DeviceValue, right: DeviceValue, syntax: 'loose' | 'semver'): boolean {
  if (right.kind !== 'text' || (left.kind !== 'text' && left.kind !== 'integer')) return false;
  return matchesVersion(String(left.value), right.value, syntax);
}

/** False for values that cannot be compared, whatever the operator, including `!=`. */
function ordered(holds: (order: number) => boolean): Comparison {
  return (left, right) => {
    const order = compareValues(left, right);
    return order !== undefined && holds(order);
  };
}

function ofTexts(holds: (left: string, right: string) => boolean): Comparison {
  return (left, right) => left.kind === 'text' && right.kind === 'text' && holds(left.value, right.value);
}

/** Undefined: not comparable, such as a string with a number, bytes with watts, or a bare number with bytes. */
function compareValues(left: DeviceValue, right: DeviceValue): number | undefined {
  if (left.kind === 'text') return right.kind === 'text' ? compareBytes(left.value, right.value) : undefined;
  // Unequal booleans compare as `>` both ways, as in Nomad.
  if (left.kind === 'truth') return right.kind === 'truth' ? Number(left.value !== right.value) : undefined;
  if (!isQuantity(left) || !isQuantity(right) || left.unit?.base !== right.unit?.base) return undefined;
  if (left.kind === 'integer' && right.kind === 'integer') return signOf(inBaseUnits(left) - inBaseUnits(right));
  return compareNumbers(left, right);
}

function isQuantity(value: DeviceValue): value is Quantity {
  return value.kind === 'integer' || value.kind === 'float';
}

/** Whole base units, rounded down: 1500 mW are 1 W. */
function inBaseUnits({ value, unit }: Quantity & { readonly kind: 'integer' }): bigint {
  return unit === undefined ? value : (value * unit.numerator) / unit.denominator;
}

/** Exact, as fractions: the double nearest to 0.1 is not a tenth. */
function compareNumbers(left: Quantity, right: Quantity): number | undefined {
  const [a, b] = [Number(left.value), Number(right.value)];
  if (Number.isNaN(a) || Number.isNaN(b)) return undefined;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a === b ? 0 : a < b ? -1 : 1;
  const x = fraction(left);
  const y = fraction(right);
  return signOf(x.numerator * y.denominator - y.numerator * x.denominator);
}

function fraction({ value, unit }: Quantity): { numerator: bigint; denominator: bigint } {
  let whole = value;
  let denominator = unit?.denominator ?? 1n;
  while (typeof whole === 'number' && !Number.isInteger(whole)) {
    whole *= 2;
    denominator *= 2n;
  }
  return { numerator: BigInt(whole) * (unit?.numerator ?? 1n), denominator };
}

function signOf(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

/** A number with an optional unit and white space before it, otherwise a boolean, otherwise a string. */
function parseDeviceValue(text: string): DeviceValue {
  const suffix = unitSuffix(text);
  const numeric = suffix === undefined ? text : trimWhiteSpace(text.slice(0, -suffix.length));
  const unit = suffix === undefined ? undefined : deviceUnits.get(suffix);
  const integer = parseInt64(numeric);
  if (integer !== undefined) return { kind: 'integer', value: integer, unit };
  const float = parseFloat64(numeric);
  if (float !== undefined) return { kind: 'float', value: float, unit };
  const truth = parseBoolean(text);
  return truth === undefined ? { kind: 'text', value: text } : { kind: 'truth', value: truth };
}

/** The longest unit at the end of the source. */
function unitSuffix(text: string): string | undefined {
  let longest: string | undefined;
  for (const name of deviceUnits.keys()) {
    if (text.endsWith(name) && name.length > (longest?.length ?? 0)) longest = name;
  }
  return longest;
}

function attributeValue(
  attributes: Readonly<Record<string, DeviceAttribute>> | null,
  name: string,
): DeviceValue | undefined {
  const attribute = attributes !== null && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (attribute === undefined) return undefined;
  const unit = deviceUnits.get(attribute.Unit ?? '');
  if (typeof attribute.Bool === 'boolean') return { kind: 'truth', value: attribute.Bool };
  if (typeof attribute.String === 'string') return { kind: 'text', value: attribute.String };
  if (Number.isInteger(attribute.Int)) return { kind: 'integer', value: BigInt(attribute.Int ?? 0), unit };
  return typeof attribute.Float === 'number' ? { kind: 'float', value: attribute.Float, unit } : { kind: 'nothing' };
}

/** A unit as a fraction (numerator / denominator) of the base unit in which quantities are compared. */
interface DeviceUnit {
  readonly base: 'byte' | 'byte per second' | 'hertz' | 'watt';
  readonly numerator: bigint;
  readonly denominator: bigint;
}
const BINARY = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'].map((name, at) => [name, 1024n ** BigInt(at + 1)] as const);
const DECIMAL = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'].map((name, at) => [name, 1000n ** BigInt(at + 1)] as const);
const BYTES = [...BINARY, ...DECIMAL, ['KB', 1000n] as const];
/** All units of device attributes and constraints by name, case-sensitive. */
const deviceUnits: ReadonlyMap<string, DeviceUnit> = new Map<string, DeviceUnit>([
  ...BYTES.map(([name, bytes]) => [name, multiple('byte', bytes)] as const),
  ...BYTES.map(([name, bytes]) => [`${name}/s`, multiple('byte per second', bytes)] as const),
  ['MHz', multiple('hertz', 1000000n)],
  ['GHz', multiple('hertz', 1000000000n)],
  ['mW', { base: 'watt', numerator: 1n, denominator: 1000n }],
  ['W', multiple('watt', 1n)],
  ['kW', multiple('watt', 1000n)],
  ['MW', multiple('watt', 1000000n)],
  ['GW', multiple('watt', 1000000000n)],
]);

function multiple(base: DeviceUnit['base'], numerator: bigint): DeviceUnit {
  return { base, numerator, denominator: 1n };
}

/** Whether the node's healthy devices could satisfy all requests if they were all free. */
export function hasDevices(requests: readonly TaskRequest<RequestedDevice>[], node: Node): boolean {
  if (requests.length === 0) return true;
  const groups = node.NodeResources.Devices ?? [];
  const left = groups.map(healthyInstances);
  return requests.every(({ request }) => {
    const at = groups.findIndex((device, index) => (left[index] ?? 0) >= request.Count && suits(request, device));
    if (at < 0) return false;
    left[at] = (left[at] ?? 0) - request.Count;
    return true;
  });
}

/** Whether the device is of the requested kind. */
export function suits(request: RequestedDevice, device: NodeDeviceGroup): boolean {
  return (
    isNamed(request.Name, device) &&
    (request.Constraints ?? []).every((constraint) => meetsOnDevice(constraint, device))
  );
}

export function meetsOnDevice(
  { LTarget, RTarget, Operand }: Pick<Constraint | Affinity, 'LTarget' | 'RTarget' | 'Operand'>,
  device: NodeDeviceGroup,
): boolean {
  return checkDeviceConstraint(Operand, resolveDeviceTarget(LTarget, device), resolveDeviceTarget(RTarget, device));
}

/** `<type>`, `<vendor>/<type>` or `<vendor>/<type>/<name>`; the name may contain slashes. */
function isNamed(name: string, { Vendor, Type, Name }: NodeDeviceGroup): boolean {
  return name === Type || name === `${Vendor}/${Type}` || name === `${Vendor}/${Type}/${Name}`;
}
