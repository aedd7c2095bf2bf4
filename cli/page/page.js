// SPDX-License-Identifier: MIT
//
// The page of `mtl export`: asks for /curves.json every second while it is looked at, draws the
// curves (chart.js) and keeps one row of the table for each process. What is not known is not shown
// as a number: the row says why. Names come from outside and are only ever set as text.

import { Chart, countText, pointAt, sizeText, timeText } from "./chart.js";

const PERIOD = 1000; // ms between questions
const PATIENCE = 8000; // ms for an answer
const SHOWN_AT_FIRST = 6; // curves
const SMALLEST = 32 * 1024;
const THUMB = 16; // px, of the slider

const $ = (id) => document.getElementById(id);
const rows = new Map(); // pid -> {row, cells, box, slot, shown}
const chart = new Chart($("chart"), look);
let answer = null; // the last one
let failure = null; // why there is none now
let steps = []; // sizes that can be looked at: half octaves, and caches
let pinned = null; // size that was chosen
let hovered = null; // size under the pointer
let paused = false;
let described = null; // pid whose values are listed
let drawn = ""; // what the chart shows, so that it is not made anew for nothing

function make(name, attributes = {}, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

// Only what differs is written: a screen reader need not hear it again.
function say(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

// --- what there is to draw

function caches() {
	const list = (answer?.caches ?? []).filter((cache) => cache.size_bytes > 0);
	return list.map((cache, i) => ({
		name: i === list.length - 1 && i > 0 ? "LLC" : `L${cache.level}`,
		size_bytes: cache.size_bytes,
	}));
}

function shown() {
	return (answer?.processes ?? []).filter((one) => one.curve && rows.get(one.process.pid)?.shown)
		.map((one) => ({ name: one.process.comm, slot: rows.get(one.process.pid).slot, curve: one.curve }));
}

// From 32K, or the smallest cache, to twice the larger of last cache and footprints.
function range() {
	const sizes = caches().map((cache) => cache.size_bytes);
	const footprints = shown().map((one) => one.curve.footprint_bytes);
	const low = Math.min(SMALLEST, ...sizes);
	return [low, Math.max(low * 64, 2 ** Math.ceil(Math.log2(2 * Math.max(...sizes, ...footprints, SMALLEST)) - 0.01))];
}

function lookedAt() {
	return hovered ?? pinned;
}

function slotFor() {
	const taken = new Set([...rows.values()].map((row) => row.slot));
	let slot = 0;
	while (taken.has(slot))
		slot++;
	return slot;
}

// --- the table

function heads() {
	return [...document.querySelectorAll("#table thead th")].slice(1);
}

function makeRow(pid) {
	const row = make("tr"), box = make("input", { type: "checkbox" });
	const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
	const name = make("span"), says = make("p", { class: "says" });
	const cells = heads().map(() => make("td", { class: "number" }));
	const progress = make("progress", { "aria-label": "observations until there is a curve" });
	const entry = { row, cells, box, name, says, progress, slot: slotFor(), shown: null };
	row.append(make("th", { scope: "row", class: `s${entry.slot % 8}` }, make("label", {}, box, swatch, name), says), ...cells);
	swatch.classList.toggle("dashed", entry.slot >= 8);
	box.addEventListener("change", () => {
		entry.shown = box.checked;
		described = pid;
		render();
	});
	rows.set(pid, entry);
	return entry;
}

function cpuText(process) {
	const share = process.cpu_seconds / process.wall_seconds;
	return Number.isFinite(share) ? `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%` : "";
}

function ofAccesses(point) {
	if (point.miss_ratio !== null)
		return Number(point.miss_ratio.toPrecision(2)).toString();
	return "";
}

function filledText(point, curve) {
	return point.fill_time_seconds === null ? `> ${timeText(curve.footprint_window_seconds)}` : timeText(point.fill_time_seconds);
}

function pointTexts(curve) {
	const point = curve && lookedAt() ? pointAt(curve, lookedAt()) : null;
	if (!point)
		return ["", "", "", ""];
	if (point.below_resolution)
		return ["", `not told apart below ${sizeText(curve.resolution_bytes)}`, "", ""];
	return [countText(point.misses_per_second), `${countText(point.low)} – ${countText(point.high)}`, ofAccesses(point), filledText(point, curve)];
}

function observationsText({ process, curve }) {
	return curve ? `${curve.observations}, worth ${Math.round(curve.effective_observations)}` : `${process.observations} of ${process.observations_needed}`;
}

function saysText(one) {
	const where = one.pod_uid ? `pod ${one.pod_uid}` : one.container_id ? `container ${one.container_id.slice(0, 12)}` : "";
	const state = one.process.state === "sampling" ? "" : one.process.state + (one.process.reason ? `: ${one.process.reason}` : "");
	const age = one.age_seconds > 5 ? `curve of ${Math.round(one.age_seconds)} s ago` : "";
	return [one.curve ? one.sentence : one.reason, state, age, where].filter(Boolean).join(" · ");
}

function fillRow(entry, one) {
	const { process, curve } = one;
	const names = heads().map((head) => head.textContent);
	const texts = [cpuText(process), sizeText(process.resident_bytes), curve ? sizeText(curve.footprint_bytes) : "",
		...pointTexts(curve), observationsText(one)];
	say(entry.name, `${process.comm} `);
	entry.name.append(make("span", { class: "pid" }, String(process.pid)));
	say(entry.says, saysText(one));
	entry.box.checked = Boolean(entry.shown && curve);
	entry.box.disabled = !curve;
	entry.box.setAttribute("aria-label", `Draw ${process.comm} ${process.pid}`);
	entry.row.classList.toggle("hidden-curve", !entry.shown);
	entry.cells.forEach((cell, i) => {
		cell.dataset.name = names[i];
		say(cell, texts[i] || "–");
	});
	entry.progress.max = process.observations_needed;
	entry.progress.value = process.observations;
	if (curve)
		entry.progress.remove();
	else
		entry.cells.at(-1).append(entry.progress);
}

function showTable() {
	const list = answer.processes, present = new Set(list.map((one) => one.process.pid));
	for (const [pid, entry] of rows)
		if (!present.has(pid)) {
			entry.row.remove();
			rows.delete(pid);
		}
	for (const one of list) {
		const entry = rows.get(one.process.pid) ?? makeRow(one.process.pid);
		if (entry.shown === null && one.curve)
			entry.shown = [...rows.values()].filter((other) => other.shown).length < SHOWN_AT_FIRST;
		fillRow(entry, one);
	}
	const body = $("table").tBodies[0];
	list.forEach((one, i) => {
		const { row } = rows.get(one.process.pid);
		if (body.rows[i] !== row) // moving the row that has the focus would lose it
			body.insertBefore(row, body.rows[i] ?? null);
	});
	$("table").classList.toggle("uncounted", !list.some((one) => one.curve?.accesses_per_second));
	$("table-frame").hidden = list.length === 0;
	$("empty").hidden = list.length > 0;
	$("left-out").hidden = !answer.left_out;
	say($("left-out"), `${answer.left_out} more are tracked: \`mtl export --top N\` shows up to N.`);
}

function showValues() {
	const one = answer.processes.find((other) => other.process.pid === described && other.curve)
		?? answer.processes.find((other) => other.curve);
	$("values").hidden = !one;
	if (!one || !$("values").querySelector("details").open && $("values-name").textContent)
		return;
	say($("values-name"), `${one.process.comm} ${one.process.pid}`);
	const trusted = one.curve.points.filter((point) => !point.below_resolution);
	$("values-table").tBodies[0].replaceChildren(...trusted.map((point) => make("tr", {},
		make("th", { scope: "row" }, sizeText(point.size_bytes)),
		...[countText(point.misses_per_second), `${countText(point.low)} – ${countText(point.high)}`, filledText(point, one.curve)]
			.map((text) => make("td", { class: "number" }, text)))));
}

// --- the size that is looked at

function makeSteps() {
	const [low, high] = range(), sizes = caches().map((cache) => cache.size_bytes);
	for (let size = low; size <= high * 1.001; size *= Math.SQRT2)
		sizes.push(Math.round(size));
	const made = [...new Set(sizes)].sort((a, b) => a - b);
	if (made.join() === steps.join())
		return;
	steps = made;
	$("size").max = Math.round(2 * Math.log2(high / low));
	if (pinned === null || pinned < steps[0] || pinned > steps.at(-1))
		pinned = caches().at(-1)?.size_bytes ?? steps[Math.floor(steps.length / 2)];
	$("levels").replaceChildren(...caches().map((cache) => {
		const button = make("button", { type: "button" }, `${cache.name} ${sizeText(cache.size_bytes)}`);
		button.addEventListener("click", () => look(cache.size_bytes, true));
		return button;
	}));
}

function nearestStep(size) {
	let nearest = 0;
	steps.forEach((step, i) => {
		if (Math.abs(Math.log(step / size)) < Math.abs(Math.log(steps[nearest] / size)))
			nearest = i;
	});
	return nearest;
}

// From the chart's pointer, the slider and the buttons.
function look(size, isPinned) {
	if (!answer || !steps.length)
		return;
	const step = size === null ? null : steps[nearestStep(size)];
	hovered = isPinned ? null : step;
	if (isPinned)
		pinned = step;
	showSize();
	showTable();
}

function showSize() {
	const size = lookedAt(), slider = $("size"), [left, right] = chart.span;
	if (!size)
		return;
	slider.value = Math.round(2 * Math.log2(size / range()[0]));
	slider.style.marginLeft = `${left - THUMB / 2}px`; // below the axis, the thumb below the line
	slider.style.width = `${right - left + THUMB}px`;
	say($("size-text"), sizeText(size));
	document.querySelectorAll(".at").forEach((at) => say(at, sizeText(size)));
	const values = shown().map(({ name, curve }) => {
		const point = pointAt(curve, size);
		return point && !point.below_resolution ? `${name} ${countText(point.misses_per_second)} misses per second` : `${name} not known`;
	});
	slider.setAttribute("aria-valuetext", [sizeText(size), ...values].join(", "));
	[...$("levels").children].forEach((button, i) => button.setAttribute("aria-pressed", String(caches()[i].size_bytes === size)));
	chart.mark(size);
}

// --- all of it

function chartMessage() {
	if (shown().length)
		return "";
	if (!answer.processes.length)
		return answer.up ? "No process is tracked yet" : "";
	return answer.processes.some((one) => one.curve) ? "No curve is chosen below" : "Not enough observations yet";
}

function drawChart() {
	const isLog = document.querySelector("input[name=scale]:checked").value === "log";
	const key = JSON.stringify([shown(), caches(), isLog, chartMessage(), $("chart").clientWidth]);
	if (key === drawn)
		return;
	drawn = key;
	const names = shown().map((one) => one.name).join(", ");
	chart.draw(shown(), range(), caches(), isLog, chartMessage(),
		names ? `Miss curves of ${names}; the values are in the table below` : chartMessage() || "No curves");
}

function showState() {
	const reason = failure ?? (answer && !answer.up ? answer.reason : null);
	const state = reason ? "away" : paused ? "paused" : answer ? "live" : "starting";
	const words = { away: failure ? "no answer" : "mtld is away", paused: "paused", live: "live", starting: "connecting" };
	$("state").dataset.state = state;
	say($("state"), words[state]);
	$("notice").hidden = !reason;
	say($("notice"), reason ?? "");
	$("chart").classList.toggle("away", Boolean(reason));
	const status = answer?.status;
	if (status) {
		const cost = status.daemon_cpu === null ? "" : `, mtld uses ${(status.daemon_cpu * 100).toFixed(1)} % of a core`;
		say($("daemon"), `mtld ${status.version}, by ${status.rung}, ${status.processes} of at most ${status.max_processes} processes${cost}`);
	}
}

function render() {
	showState();
	if (!answer)
		return;
	showTable();
	makeSteps();
	drawChart();
	showSize();
	showTable();
	showValues();
}

// While mtld is away, what was seen last stays, faded.
function take(fresh) {
	failure = null;
	if (!fresh.up && answer)
		fresh = { ...answer, up: false, reason: fresh.reason };
	answer = fresh;
}

async function ask() {
	try {
		const response = await fetch("curves.json", { signal: AbortSignal.timeout(PATIENCE) });
		if (!response.ok)
			throw new Error(`status ${response.status}`);
		take(await response.json());
	} catch (error) {
		failure = `mtl export, which serves this page, does not answer (${error.message}). Trying again.`;
	}
	render();
}

async function go() {
	for (;;) {
		if (!paused && !document.hidden)
			await ask();
		await new Promise((resolve) => setTimeout(resolve, PERIOD));
	}
}

$("pause").addEventListener("click", () => {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", String(paused));
	showState();
});
$("size").addEventListener("input", () => look(range()[0] * Math.SQRT2 ** $("size").value, true));
$("values").querySelector("details").addEventListener("toggle", () => answer && showValues());
document.querySelectorAll("input[name=scale]").forEach((input) => input.addEventListener("change", render));
new ResizeObserver(() => answer && render()).observe($("chart"));
go();
