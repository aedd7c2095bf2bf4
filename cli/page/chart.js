// SPDX-License-Identifier: MIT
//
// The drawing: curves over the logarithm of cache size, as SVG made anew for every change. It knows
// nothing of where curves come from; page.js hands it what to draw.

const NAMESPACE = "http://www.w3.org/2000/svg";
const CLIP = 1.015; // of the height: where what leaves the scale is drawn
const DECADES = 6; // of the logarithmic scale at most

function add(parent, name, attributes, text) {
	const element = document.createElementNS(NAMESPACE, name);
	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	if (text !== undefined)
		element.textContent = text;
	parent.append(element);
	return element;
}

function digits(value) {
	return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function scaled(value, base, units, joint) {
	let i = 0;
	while (i + 1 < units.length && value >= base * 0.9995) {
		value /= base;
		i++;
	}
	return digits(value) + (units[i] ? joint + units[i] : "");
}

// "512K", "1.41M": of caches, by powers of 1024
export function sizeText(bytes) {
	return scaled(bytes, 1024, ["", "K", "M", "G", "T", "P"], "");
}

// "12.3 M": by powers of 1000
export function countText(count) {
	return count < 1 && count > 0 ? Number(count.toPrecision(2)).toString()
		: scaled(count, 1000, ["", "k", "M", "G", "T"], "\u00a0");
}

export function timeText(seconds) {
	const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
	const [scale, unit] = units.find(([least]) => seconds >= least * 0.9995) ?? [1e-9, "ns"];
	return `${digits(seconds / scale)}\u00a0${unit}`;
}

// Misses between two points of a curve, as straight as they are drawn: in log size.
export function pointAt(curve, size) {
	const points = curve.points;
	const next = points.findIndex((point) => point.size_bytes >= size);
	if (next < 0 || (next === 0 && points[0].size_bytes > size))
		return null;
	if (points[next].size_bytes === size)
		return points[next];
	const a = points[next - 1], b = points[next];
	const share = Math.log(size / a.size_bytes) / Math.log(b.size_bytes / a.size_bytes);
	const mix = (key) => a[key] === null || b[key] === null ? null : a[key] + share * (b[key] - a[key]);
	const between = { size_bytes: size, below_resolution: a.below_resolution || b.below_resolution };
	for (const key of ["misses_per_second", "low", "high", "miss_ratio", "relative_miss_ratio", "fill_time_seconds"])
		between[key] = mix(key);
	return between;
}

function niceStep(range, ticks) {
	const rough = range / ticks, power = 10 ** Math.floor(Math.log10(rough));
	return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

// Both scales map misses to 0 (bottom) ... 1 (top).
function linearScale(top) {
	const step = niceStep(top, 5), ticks = [];
	for (let tick = 0; tick <= top * 1.0001; tick += step)
		ticks.push(tick);
	return { at: (value) => Math.min(value / top, CLIP), ticks };
}

function logScale(least, top) {
	const high = Math.log10(top), low = Math.floor(Math.max(Math.log10(least), high - DECADES));
	const ticks = [];
	for (let exponent = low; exponent <= high; exponent++)
		ticks.push(10 ** exponent);
	const at = (value) => Math.min(CLIP, Math.max(0, (Math.log10(Math.max(value, 1e-300)) - low) / (high - low || 1)));
	return { at, ticks };
}

// What can be relied on decides the scale; what cannot may leave it at the top.
function verticalScale(shown, isLog) {
	let top = 0, least = Infinity;
	for (const { curve } of shown) {
		const trusted = curve.points.filter((point) => !point.below_resolution);
		for (const point of trusted.length ? trusted : curve.points) {
			top = Math.max(top, Math.min(point.high, point.misses_per_second * 3));
			if (point.misses_per_second > 0)
				least = Math.min(least, point.misses_per_second);
		}
	}
	top = top > 0 ? top * (isLog ? 1.6 : 1.08) : 1;
	return isLog ? logScale(Number.isFinite(least) ? least : top / 10, top) : linearScale(top);
}

export class Chart {
	#parent;
	#onSize;
	#frame = null; // of the last drawing
	#cursor = null;
	#shown = [];

	// onSize(size or null, pinned): the pointer is at that size; null: it has gone
	constructor(parent, onSize) {
		this.#parent = parent;
		this.#onSize = onSize;
		parent.addEventListener("pointermove", (event) => this.#point(event, false));
		parent.addEventListener("pointerdown", (event) => this.#point(event, true));
		parent.addEventListener("pointerleave", () => onSize(null, false));
	}

	#point(event, pinned) {
		const frame = this.#frame;
		if (!frame)
			return;
		const x = event.clientX - this.#parent.getBoundingClientRect().left;
		const share = (x - frame.left) / (frame.right - frame.left);
		if (share >= -0.02 && share <= 1.02)
			this.#onSize(frame.low * (frame.high / frame.low) ** Math.min(1, Math.max(0, share)), pinned);
	}

	#x(size) {
		const { left, right, low, high } = this.#frame;
		return left + (right - left) * Math.log(size / low) / Math.log(high / low);
	}

	#y(misses) {
		const { top, bottom, scale } = this.#frame;
		return bottom - (bottom - top) * scale.at(misses);
	}

	// shown: [{name, slot, curve}], range: [low, high] bytes, caches: [{level, size_bytes}]
	draw(shown, range, caches, isLog, message, description) {
		const width = Math.max(260, this.#parent.clientWidth);
		const height = Math.round(Math.min(460, Math.max(250, width * 0.46)));
		const narrow = width < 520;
		const svg = document.createElementNS(NAMESPACE, "svg");
		svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
		svg.setAttribute("height", height);
		svg.setAttribute("role", "img");
		svg.setAttribute("aria-label", description);
		this.#shown = shown;
		this.#frame = {
			left: narrow ? 46 : 60, right: width - 18, top: 40, bottom: height - 30,
			low: range[0], high: range[1], scale: verticalScale(shown, isLog), svg,
		};
		this.#drawGrid(svg, narrow);
		this.#drawCaches(svg, caches, narrow);
		for (const kind of ["band", "curve", "ring"])
			for (const one of shown)
				this.#drawKind(svg, kind, one);
		if (message)
			add(svg, "text", { class: "message", x: width / 2, y: height / 2 }, message);
		this.#cursor = add(svg, "g", {});
		this.#parent.replaceChildren(svg);
	}

	#drawGrid(svg, narrow) {
		const { left, right, top, bottom, low, high, scale } = this.#frame;
		for (const tick of this.#shown.length ? scale.ticks : []) {
			const y = this.#y(tick);
			add(svg, "line", { class: "grid", x1: left, x2: right, y1: y, y2: y });
			add(svg, "text", { x: left - 8, y: y + 4, "text-anchor": "end" }, countText(tick));
		}
		const octaves = Math.log2(high / low), room = (right - left) / (narrow ? 44 : 52);
		const every = Math.max(1, Math.ceil(octaves / room));
		for (let exponent = Math.ceil(Math.log2(low) - 1e-9); 2 ** exponent <= high * 1.001; exponent++) {
			const x = this.#x(2 ** exponent);
			if ((exponent - Math.ceil(Math.log2(low) - 1e-9)) % every)
				continue;
			add(svg, "line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom });
			const anchor = x > right - 6 ? { x: right + 16, "text-anchor": "end" } : { x, "text-anchor": "middle" };
			add(svg, "text", { ...anchor, y: bottom + 18 }, sizeText(2 ** exponent));
		}
		add(svg, "line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom });
	}

	// Names stand in two rows where they would run into each other.
	#drawCaches(svg, caches, narrow) {
		const { left, right, top, bottom, low, high } = this.#frame;
		let last = -Infinity, row = 0;
		for (const { name, size_bytes: size } of caches) {
			if (size < low || size > high)
				continue;
			const x = this.#x(size), text = narrow ? name : `${name} ${sizeText(size)}`;
			row = x - last < text.length * 7 + 14 ? 1 - row : 0;
			last = x;
			add(svg, "line", { class: "cache", x1: x, x2: x, y1: top - 6, y2: bottom });
			const anchor = x > right - 40 ? "end" : x < left + 40 ? "start" : "middle";
			add(svg, "text", { class: "cache-name", x, y: row ? 13 : 28, "text-anchor": anchor }, text);
		}
	}

	#drawKind(svg, kind, { curve, slot }) {
		const { low, high } = this.#frame;
		const points = curve.points.filter((point) => point.size_bytes >= low * 0.999 && point.size_bytes <= high * 1.001);
		const first = points.findIndex((point) => !point.below_resolution);
		const trusted = first < 0 ? [] : points.slice(first);
		const colour = `s${slot % 8}`, dash = slot < 8 ? {} : { "stroke-dasharray": "9 4" };
		const path = (list, key) => list.map((point) => `${this.#x(point.size_bytes).toFixed(1)},${this.#y(point[key]).toFixed(1)}`);
		if (kind === "band" && trusted.length > 1)
			add(svg, "path", { class: `band ${colour}`, d: `M${[...path(trusted, "high"), ...path([...trusted].reverse(), "low")].join("L")}Z` });
		if (kind === "curve") {
			const untrusted = first < 0 ? points : points.slice(0, first + 1);
			if (untrusted.length > 1)
				add(svg, "path", { class: `curve untrusted ${colour}`, d: `M${path(untrusted, "misses_per_second").join("L")}` });
			if (trusted.length)
				add(svg, "path", { class: `curve ${colour}`, ...dash, d: `M${path(trusted, "misses_per_second").join("L")}` });
		}
		const whole = kind === "ring" ? pointAt(curve, curve.footprint_bytes) : null;
		if (whole && whole.size_bytes >= low && whole.size_bytes <= high && whole.misses_per_second !== null)
			add(svg, "circle", { class: `ring ${colour}`, cx: this.#x(whole.size_bytes), cy: this.#y(whole.misses_per_second), r: 4.5 });
	}

	// Where the horizontal axis begins and ends, in pixels of the parent.
	get span() {
		return [this.#frame.left, this.#frame.right];
	}

	// The line at the size that is looked at, and where it meets the curves.
	mark(size) {
		if (!this.#frame || !this.#cursor)
			return;
		const { top, bottom, low, high } = this.#frame;
		this.#cursor.replaceChildren();
		if (!(size >= low && size <= high))
			return;
		const x = this.#x(size);
		add(this.#cursor, "line", { class: "cursor", x1: x, x2: x, y1: top, y2: bottom });
		for (const { curve, slot } of this.#shown) {
			const point = pointAt(curve, size);
			if (point && point.misses_per_second !== null)
				add(this.#cursor, "circle", { class: `dot s${slot % 8}`, cx: x, cy: this.#y(point.misses_per_second), r: 4.5 });
		}
	}
}
